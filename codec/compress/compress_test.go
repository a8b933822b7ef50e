package compress

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/codectest"
)

func texts(t testing.TB) firn.Codec[string] {
	c, err := firn.DefaultCodec[string]()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newCodec(t testing.TB, opts Options) firn.Codec[string] {
	c, err := New(texts(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompress(t *testing.T) {
	noise := make([]byte, 5000)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(noise)
	values := []string{"", "short", strings.Repeat("firn ", 1000), strings.Repeat("x", 1<<20), string(noise)}
	for _, method := range []Method{S2, Zstd} {
		codec := newCodec(t, Options{Method: method})
		codectest.Check(t, codec, nil, values...)
		codectest.Check(t, newCodec(t, Options{Method: method, MinBytes: 1, MaxBytes: 10_000}), nil, values...)
		for _, v := range values {
			b, err := codec.Append(nil, v)
			if err != nil || len(b) > len(v)+1 {
				t.Errorf("%d bytes became %d, %v", len(v), len(b), err)
			}
			if len(v) == 5000 && strings.HasPrefix(v, "firn") && len(b) > len(v)/10 {
				t.Errorf("%d bytes became %d: not compressed", len(v), len(b))
			}
			// each method reads what the other wrote
			if got, err := newCodec(t, Options{Method: 1 - method}).Decode(b); err != nil || got != v {
				t.Errorf("read with the other method: %d bytes, %v", len(got), err)
			}
		}
	}
}

// A value of MaxBytes is read, and a longer one is not, also below the least window of Zstandard.
func TestCompressMaxBytes(t *testing.T) {
	for _, method := range []Method{S2, Zstd} {
		for _, most := range []int{600, 1023, 1024, 1025, 5000, 1 << 17} {
			limited := newCodec(t, Options{Method: method, MaxBytes: most})
			codectest.Check(t, limited, nil, strings.Repeat("x", most-16), strings.Repeat("x", most))
			longer, err := newCodec(t, Options{Method: method}).Append(nil, strings.Repeat("x", most+16))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := limited.Decode(longer); err == nil {
				t.Errorf("method %d, at most %d bytes: %d are no error", method, most, len(got))
			}
		}
	}
}

func TestCompressAllocations(t *testing.T) {
	codec := newCodec(t, Options{})
	v := strings.Repeat("firn ", 1000)
	dst, _ := codec.Append(nil, v)
	if n := testing.AllocsPerRun(500, func() { dst, _ = codec.Append(dst[:0], v) }); n > 0.5 {
		t.Errorf("Append: %v allocations, want none", n)
	}
	if n := testing.AllocsPerRun(500, func() { codec.Decode(dst) }); n > 1.5 {
		t.Errorf("Decode: %v allocations, want that of the string", n)
	}
}

func TestCompressRefuses(t *testing.T) {
	for _, opts := range []Options{{Method: 2}, {MinBytes: -1}, {MinBytes: 100, MaxBytes: 10}} {
		if _, err := New(texts(t), opts); err == nil {
			t.Errorf("%+v: no error", opts)
		}
	}
	if _, err := New[string](nil, Options{}); err == nil {
		t.Error("no inner codec: no error")
	}
	small := newCodec(t, Options{MinBytes: 1, MaxBytes: 1000})
	for name, b := range map[string][]byte{
		"nothing":        {},
		"unknown method": {9, 1, 2},
		"too large, s2":  append([]byte{withS2}, s2.Encode(nil, make([]byte, 2000))...),
		"not s2":         {withS2, 10, 0xff},
		"not zstd":       {withZstd, 10, 0xff},
	} {
		if _, err := small.Decode(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	large, _ := newCodec(t, Options{Method: Zstd}).Append(nil, strings.Repeat("x", 100_000))
	if _, err := small.Decode(large); err == nil {
		t.Error("too large, zstd: no error")
	}
}

func FuzzCompress(f *testing.F) {
	codec := newCodec(f, Options{MinBytes: 1, MaxBytes: 1 << 16})
	zstd := newCodec(f, Options{Method: Zstd, MinBytes: 1, MaxBytes: 1 << 16})
	for _, c := range []firn.Codec[string]{codec, zstd} {
		b, err := c.Append(nil, string(bytes.Repeat([]byte("firn "), 20)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) { codectest.Fuzz(t, codec, src, 1000) })
}
