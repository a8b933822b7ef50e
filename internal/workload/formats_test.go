package workload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// sample is a trace in one format, and the requests it holds.
type sample struct {
	format   string
	name     string // a file name that tells the format; empty: only the content does
	data     []byte
	requests []Request
}

// samples returns a trace of every format with n requests or about as many.
func samples(n int) []sample {
	rng := rand.New(rand.NewPCG(7, 7))
	var requests []Request
	for i := range n {
		requests = append(requests, Request{Key: rng.Uint64(), Size: rng.Uint32N(1 << 20), Time: uint32(i / 3)})
	}
	return []sample{
		trcSample(requests), oracleSample(requests), arcSample(n), lirsSample(n),
		twitterSample(n), headerSample(n), columnsSample(n), keysSample(n),
	}
}

func trcSample(requests []Request) sample {
	var b []byte
	for _, r := range requests {
		b = binary.LittleEndian.AppendUint64(b, r.Key)
		b = binary.LittleEndian.AppendUint32(b, r.Size)
		b = binary.LittleEndian.AppendUint32(b, r.Time)
	}
	return sample{"trc", "a.trc", b, requests}
}

func oracleSample(requests []Request) sample {
	var b []byte
	for i, r := range requests {
		b = binary.LittleEndian.AppendUint32(b, r.Time)
		b = binary.LittleEndian.AppendUint64(b, r.Key)
		b = binary.LittleEndian.AppendUint32(b, r.Size)
		next := int64(-1)
		if i%2 == 0 {
			next = int64(i) + 5
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(next))
	}
	return sample{"oraclegeneral", "w.oracleGeneral.bin", b, requests}
}

func arcSample(n int) sample {
	s := sample{format: "arc", name: "P1.lis"}
	for i := 0; len(s.requests) < n; i++ {
		start, count := uint64(i*1000), i%5
		s.data = fmt.Appendf(s.data, "%d %d 0 %d\n", start, count, i)
		for block := range count {
			s.requests = append(s.requests, Request{Key: start + uint64(block)})
		}
	}
	return s
}

func lirsSample(n int) sample {
	s := sample{format: "lirs"}
	for i := range n {
		if i%10 == 9 {
			s.data = append(s.data, "*\n\n"...)
		}
		s.data = fmt.Appendf(s.data, "%d \r\n", i*i)
		s.requests = append(s.requests, Request{Key: uint64(i * i)})
	}
	return s
}

func twitterSample(n int) sample {
	s := sample{format: "twitter"}
	ops := []string{"get", "set", "delete", "gets", "cas"}
	for i := range n {
		op, key := ops[i%len(ops)], fmt.Sprintf("nz:u,%d", i/4)
		s.data = fmt.Appendf(s.data, "%d,%s,%d,%d,9,%s,%d\n", 100+i, key, len(key), i*3, op, i%2*600)
		if op != "delete" {
			s.requests = append(s.requests, Request{
				Key: hashBytes([]byte(key)), Size: uint32(i * 3), Time: uint32(i),
				TTL: uint32(i % 2 * 600), Write: op == "set" || op == "cas",
			})
		}
	}
	return s
}

func headerSample(n int) sample {
	s := sample{format: "csv", name: "b.csv", data: []byte("# time, op, object, size, ttl\n")}
	for i := range n {
		s.data = fmt.Appendf(s.data, "%d.5, 2a, \"k,%d\", %d, 0.%d\n", 50+i, i%4, i, i%2)
		s.requests = append(s.requests, Request{
			Key: hashBytes(fmt.Appendf(nil, "k,%d", i%4)), Size: uint32(i), Time: uint32(i), TTL: uint32(i % 2),
		})
	}
	return s
}

func columnsSample(n int) sample {
	s := sample{format: "csv"}
	for i := range n {
		s.data = fmt.Appendf(s.data, "%d\tkey %d\t%d\n", 50+i, i%4, i)
		s.requests = append(s.requests, Request{Key: hashBytes(fmt.Appendf(nil, "key %d", i%4)), Size: uint32(i), Time: uint32(i)})
	}
	return s
}

func keysSample(n int) sample {
	s := sample{format: "csv", data: []byte("\xef\xbb\xbf")}
	for i := range n {
		s.data = fmt.Appendf(s.data, "domain-%d.example\n", i%7)
		s.requests = append(s.requests, Request{Key: hashBytes(fmt.Appendf(nil, "domain-%d.example", i%7))})
	}
	return s
}

// compressions are the ways a trace is stored, with the suffix of its name.
var compressions = map[string]func(t testing.TB, data []byte) []byte{
	"": func(_ testing.TB, data []byte) []byte { return data },
	".gz": func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		return finish(t, &b, w, data)
	},
	".zst": func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(32<<20))
		if err != nil {
			t.Fatal(err)
		}
		return finish(t, &b, w, data)
	},
}

func finish(t testing.TB, b *bytes.Buffer, w io.WriteCloser, data []byte) []byte {
	t.Helper()
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openBytes opens data as a trace file of the given name.
func openBytes(name, format string, data []byte) (Source, error) {
	return newTrace(io.NopCloser(bytes.NewReader(data)), int64(len(data)), name, format)
}

// readAll reads a source in steps of an odd size.
func readAll(src Source) ([]Request, error) {
	var all []Request
	buf := make([]Request, 7)
	for {
		n, err := src.Read(buf)
		all = append(all, buf[:n]...)
		if n > 0 && err != nil {
			return all, fmt.Errorf("%d requests together with the error %v", n, err)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

func TestFormats(t *testing.T) {
	for i, s := range samples(6000) {
		for suffix, compress := range compressions {
			names := map[string]string{"named": s.format, "by content": ""}
			for how, format := range names {
				t.Run(fmt.Sprint(i, s.format, suffix, how), func(t *testing.T) {
					t.Parallel()
					path := filepath.Join(t.TempDir(), cmpOr(s.name, "trace")+suffix)
					if how == "by content" && s.name != "" {
						path = filepath.Join(t.TempDir(), "trace"+suffix)
					}
					if err := os.WriteFile(path, compress(t, s.data), 0o600); err != nil {
						t.Fatal(err)
					}
					src, err := Open(path, format)
					if err != nil {
						t.Fatal(err)
					}
					defer src.Close()
					got, err := readAll(src)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got, s.requests) {
						t.Fatalf("got %d requests, want %d; first %+v, want %+v", len(got), len(s.requests), got[:3], s.requests[:3])
					}
					if done := src.Done(); done != 1 {
						t.Errorf("Done is %v after the end", done)
					}
				})
			}
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestDetectByName(t *testing.T) {
	for name, want := range map[string]string{
		"x.trc": "trc", "x.trc.zst": "trc", "w.oracleGeneral.bin.zst": "oraclegeneral", "cloudphysics.ORACLEgeneral": "oraclegeneral",
		"dir/P1.lis.gz": "arc", "oltp.lis": "arc",
	} {
		if got, err := detectFormat(name, []byte("\x00"), true); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

// A file that is cut anywhere gives a prefix of its requests, and an error
// unless the cut lies between two records of an uncompressed file.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, s := range samples(16)[:2] {
		for suffix, compress := range compressions {
			data := compress(t, s.data)
			for cut := range data {
				src, err := openBytes(s.name+suffix, "", data[:cut])
				var got []Request
				if err == nil {
					got, err = readAll(src)
				}
				if !slices.Equal(got, s.requests[:min(len(got), len(s.requests))]) {
					t.Fatalf("%s%s cut at %d: requests that were never there", s.format, suffix, cut)
				}
				whole := suffix == "" && cut > 0 && cut%(len(s.data)/len(s.requests)) == 0
				if _, isTrace := errors.AsType[*TraceError](err); isTrace == whole {
					t.Fatalf("%s%s cut at %d of %d: %v", s.format, suffix, cut, len(data), err)
				}
			}
		}
	}
}

// A text that is cut loses its end: every line before the cut is as it was.
func TestTruncatedText(t *testing.T) {
	t.Parallel()
	for _, s := range samples(16)[2:] {
		for cut := 1; cut < len(s.data); cut++ {
			src, err := openBytes("trace", s.format, s.data[:cut])
			if err != nil {
				t.Fatalf("%s cut at %d: %v", s.format, cut, err)
			}
			got, err := readAll(src)
			if len(got) > len(s.requests)+40 {
				t.Fatalf("%s cut at %d: %d requests", s.format, cut, len(got))
			}
			lines := bytes.Count(s.data[:cut], []byte("\n"))
			place, _ := errors.AsType[*TraceError](err)
			if err != nil && (place == nil || place.Line != int64(lines+1)) {
				t.Fatalf("%s cut at %d: %v", s.format, cut, err)
			}
		}
	}
}

func TestFlippedBits(t *testing.T) {
	t.Parallel()
	s := samples(12)[0]
	for _, suffix := range []string{".gz", ".zst"} {
		data := compressions[suffix](t, s.data)
		for bit := range 8 * len(data) {
			data[bit/8] ^= 1 << (bit % 8)
			src, err := openBytes(s.name+suffix, "", data)
			if err == nil {
				_, err = readAll(src)
			}
			if _, ok := errors.AsType[*TraceError](err); err != nil && !ok {
				t.Fatalf("%s, bit %d: %v", suffix, bit, err)
			}
			data[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestBrokenTraces(t *testing.T) {
	long := strings.Repeat("9", maxLine)
	for _, test := range []struct{ name, format, data, want string }{
		{"a", "", "", "a: offset 0: the trace is empty"},
		{"a", "trc", "0123456789abcdefXYZ", "a: offset 16 (trc): record cut short: 3 of 16 bytes"},
		{"a", "oraclegeneral", "0123", "a: offset 0 (oraclegeneral): record cut short: 4 of 24 bytes"},
		{"a", "arc", "1 2 0 0\n1 2 3\n", "a: line 2, offset 8 (arc): expected 4 fields (start, count, ignored, request number), found 3"},
		{"a", "arc", "1 99999999999 0 0\n", "a: line 1, offset 0 (arc): count: 99999999999 exceeds the limit of 16777216"},
		{"a", "arc", "1 99999999999999999999999 0 0\n", "a: line 1, offset 0 (arc): count: \"99999999999999999999999\" exceeds 64 bits"},
		{"a", "arc", "18446744073709551615 2 0 0\n", "a: line 1, offset 0 (arc): start 18446744073709551615 and count 2 overflow 64 bits"},
		{"a", "arc", "1 -2 0 0\n", "a: line 1, offset 0 (arc): count: expected an integer, found \"-2\""},
		{"a", "lirs", "1\n*\ntwo\n", "a: line 3, offset 4 (lirs): block number: expected an integer or *, found \"two\""},
		{"a", "lirs", "1\n" + long, "a: line 2, offset 2 (lirs): line longer than 65536 bytes"},
		{"a", "twitter", "1,k,1,2,3,get\n", "a: line 1, offset 0 (twitter): expected 7 fields (timestamp, key, key size, value size, client, operation, TTL), found 6"},
		{"a", "twitter", "1,k,1,2,3,fetch,0\n", "a: line 1, offset 0 (twitter): operation: expected one of memcached's (get, set, ...), found \"fetch\""},
		{"a", "twitter", "1,k,1,5000000000,3,get,0\n", "a: line 1, offset 0 (twitter): value size: 5000000000 exceeds the limit of 4294967295"},
		{"a.csv", "", "key,size\nx,-5\n", "a.csv: line 2, offset 9 (csv): size: expected an integer, found \"-5\""},
		{"a.csv", "", "key,size\nx,\n", "a.csv: line 2, offset 9 (csv): size: expected an integer, found nothing"},
		{"a.csv", "", "key,ttl\nx,NaN\n", "a.csv: line 2, offset 8 (csv): TTL: expected seconds, 0 to 4294967295, found \"NaN\""},
		{"a.csv", "", "key,size\nx\n", "a.csv: line 2, offset 9 (csv): expected 2 fields, found 1"},
		{"a.csv", "", "key,size\nx,1,2\n", "a.csv: line 2, offset 9 (csv): expected 2 fields, found 3"},
		{"a.csv", "", "a,b,c,d\n", "a.csv: line 1, offset 0 (csv): 4 columns and no header: name them with -format csv:COLUMN,... (key, size, time, ttl, - to ignore)"},
		{"a.csv", "", "key,size\n\"x,1\n", "a.csv: line 2, offset 9 (csv): extraneous or missing \" in quoted-field"},
		{"a.csv", "", "size,time\n", "a.csv: line 1, offset 0 (csv): unknown trace format: csv without a column of keys"},
		{"a.zst", "", "no zstd", "a.zst: offset 0: the name promises compression, but the content begins with 6e 6f 20 7a, neither gzip (1f 8b) nor zstd (28 b5 2f fd)"},
		{"a.gz", "trc", "\x1f\x8b", "a.gz: offset 0 after decompression (trc): broken gzip data: the file ends early"},
		{"a", "", "\x01\x02\x03", "a: offset 0: unknown trace format: neither the name nor the content tells it; name it with -format (trc, oraclegeneral, arc, lirs, twitter, csv)"},
	} {
		src, err := openBytes(test.name, test.format, []byte(test.data))
		if err == nil {
			_, err = readAll(src)
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%q as %s:\n got %v\nwant %s", test.data[:min(len(test.data), 30)], test.format, err, test.want)
		}
		if _, ok := errors.AsType[*TraceError](err); !ok {
			t.Errorf("%q: %T is no TraceError", test.data[:min(len(test.data), 30)], err)
		}
	}
}

// A frame may ask for a window of 128 MiB, and gets an error for more.
func TestHugeWindow(t *testing.T) {
	for exponent, want := range map[byte]string{17: "ends early", 18: "window size exceeded"} {
		frame := append(slices.Clone(zstdMagic), 0x00, exponent<<3, 0xff) // window of 2^(10+exponent) bytes
		src, err := openBytes("a.trc.zst", "", frame)
		if err == nil {
			_, err = readAll(src)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("window of %d MiB: %v, want %q", 1<<(exponent-10), err, want)
		}
	}
}

func TestCheckFormat(t *testing.T) {
	for _, format := range append(Formats(), "", "CSV:time,-,key", "csv:key", "csv:Object ID,value-size") {
		if err := CheckFormat(format); err != nil {
			t.Errorf("%q: %v", format, err)
		}
	}
	for _, format := range []string{"x", "trc:key", "csv:size", "csv:key,key", "csv:key,what"} {
		if err := CheckFormat(format); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", format, err)
		}
	}
}

func TestNamedColumns(t *testing.T) {
	for _, data := range []string{"1;x;100;k\n", "time;what;size;key\n1;x;100;k\n"} {
		src, err := openBytes("a", "csv:time,-,size,key", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(src)
		want := []Request{{Key: hashBytes([]byte("k")), Size: 100}}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %+v, %v", data, got, err)
		}
	}
}

func TestOpenMissing(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
}
