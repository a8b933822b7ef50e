package bufpool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

// plain hides every method of a reader but Read.
type plain struct{ io.Reader }

// readFunc is a reader with a script.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 31 >> 3)
	}
	return data
}

// readers are the ways in which a stream may come.
var readers = map[string]func(data []byte) io.Reader{
	"bytes.Reader":   func(d []byte) io.Reader { return bytes.NewReader(d) },
	"bytes.Buffer":   func(d []byte) io.Reader { return bytes.NewBuffer(d) },
	"strings.Reader": func(d []byte) io.Reader { return strings.NewReader(string(d)) },
	"plain":          func(d []byte) io.Reader { return plain{bytes.NewReader(d)} },
	"short":          func(d []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(d)) },
	"one byte":       func(d []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(d)) },
	"data with EOF":  func(d []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(d)) },
	"limited":        func(d []byte) io.Reader { return io.LimitReader(plain{bytes.NewReader(d)}, int64(len(d))) },
	"limited far":    func(d []byte) io.Reader { return io.LimitReader(plain{bytes.NewReader(d)}, math.MaxInt64) },
	"limited memory": func(d []byte) io.Reader { return io.LimitReader(bytes.NewReader(append(d, "more"...)), int64(len(d))) },
	"wrong Len":      func(d []byte) io.Reader { return lenReader{plain{bytes.NewReader(d)}, 10} },
	"absurd Len":     func(d []byte) io.Reader { return lenReader{plain{bytes.NewReader(d)}, math.MaxInt} },
	"negative Len":   func(d []byte) io.Reader { return lenReader{plain{bytes.NewReader(d)}, -5} },
	"empty reads":    func(d []byte) io.Reader { return emptyReads(bytes.NewReader(d)) },
	"pipe":           pipe,
}

type lenReader struct {
	io.Reader
	n int
}

func (l lenReader) Len() int { return l.n }

// emptyReads returns 0 and no error before every byte it gives.
func emptyReads(r io.Reader) io.Reader {
	odd := false
	return readFunc(func(p []byte) (int, error) {
		if odd = !odd; odd {
			return 0, nil
		}
		return r.Read(p)
	})
}

func pipe(d []byte) io.Reader {
	r, w := io.Pipe()
	go func() {
		w.Write(d)
		w.Close()
	}()
	return r
}

func TestReadAll(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 16}, {Size: 100}, {Size: 512}, {Size: 4096}}})
	for name, reader := range readers {
		for _, n := range []int{0, 1, 15, 16, 17, 100, 511, 512, 513, 4096, 5000, 70000} {
			for _, hint := range []int64{math.MinInt64, -1, 0, 1, int64(n) - 1, int64(n), int64(n) + 1, 5000, math.MaxInt64} {
				data := pattern(n)
				b, err := p.ReadAll(reader(data), hint)
				if err != nil || !bytes.Equal(b.Bytes(), data) {
					t.Fatalf("%s of %d bytes, hint %d: %v, contents differ: %t", name, n, hint, err, err == nil)
				}
				b.Release()
			}
		}
	}
	if n := p.lentNow(); n != 0 {
		t.Fatalf("%d buffers not released", n)
	}
}

func TestReadAllN(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 16}, {Size: 100}, {Size: 512}}})
	for name, reader := range readers {
		for _, n := range []int{0, 1, 15, 16, 17, 99, 100, 512, 3000} {
			for _, limit := range []int64{0, 1, int64(n) - 1, int64(n), int64(n) + 1, 10000, math.MaxInt64} {
				for _, hint := range []int64{-1, int64(n), 5000, math.MaxInt64} {
					if limit < 0 {
						continue
					}
					data := pattern(n)
					b, err := p.ReadAllN(reader(data), hint, limit)
					at := fmt.Sprintf("%s of %d bytes, hint %d, limit %d", name, n, hint, limit)
					if int64(n) > limit {
						if !errors.Is(err, ErrTooLarge) || b != nil {
							t.Fatalf("%s: %v, expected ErrTooLarge and no buffer", at, err)
						}
						continue
					}
					if err != nil || !bytes.Equal(b.Bytes(), data) {
						t.Fatalf("%s: %v", at, err)
					}
					b.Release()
				}
			}
		}
	}
	if n := p.lentNow(); n != 0 {
		t.Fatalf("%d buffers not released", n)
	}
	if _, err := p.ReadAllN(strings.NewReader(""), 0, -1); !errors.Is(err, ErrNegative) {
		t.Fatalf("limit -1: %v, expected ErrNegative", err)
	}
}

// TestReadErrors: the error comes through, and nothing stays lent.
func TestReadErrors(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}, {Size: 1024}}})
	boom := errors.New("boom")
	for _, before := range []int{0, 1, 63, 64, 65, 5000} {
		for _, hint := range []int64{-1, 1, 64, int64(before), 9000} {
			if b, err := p.ReadAll(io.MultiReader(bytes.NewReader(pattern(before)), iotest.ErrReader(boom)), hint); err != boom || b != nil {
				t.Fatalf("error after %d bytes, hint %d: %v, %v", before, hint, b, err)
			}
		}
	}
	for name, n := range map[string]int{"negative": -1, "too large": 1 << 30} {
		for calls := range 3 {
			lies := readFunc(func(p []byte) (int, error) {
				if calls--; calls < 0 {
					return n, nil
				}
				return len(p), nil
			})
			if _, err := p.ReadAll(lies, 64); !errors.Is(err, ErrBadReader) {
				t.Fatalf("%s count: %v, expected ErrBadReader", name, err)
			}
		}
	}
	idle := readFunc(func([]byte) (int, error) { return 0, nil })
	if _, err := p.ReadAll(idle, -1); err != io.ErrNoProgress {
		t.Fatalf("a reader that gives nothing: %v, expected io.ErrNoProgress", err)
	}
	if n := p.lentNow(); n != 0 {
		t.Fatalf("%d buffers not released", n)
	}
}

func TestReadFromKeepsWhatCame(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}, {Size: 1024}}})
	boom := errors.New("boom")
	b := p.Get(0)
	defer b.Release()
	b.WriteString("first ")
	n, err := b.ReadFrom(io.MultiReader(strings.NewReader("second"), iotest.ErrReader(boom)))
	if n != 6 || err != boom || string(b.Bytes()) != "first second" {
		t.Fatalf("%d, %v, %q", n, err, b.Bytes())
	}
	if n, err := b.ReadFrom(b); n != 0 || err == nil {
		t.Fatalf("ReadFrom of itself: %d, %v, expected an error", n, err)
	}
}

// TestHintAllocatesNoMore: a hint is not believed beyond 1 MiB, however large.
func TestHintAllocatesNoMore(t *testing.T) {
	for _, hint := range []int64{1 << 21, 1 << 40, math.MaxInt64} {
		for name, r := range map[string]io.Reader{
			"hint":    plain{strings.NewReader("small")},
			"limited": io.LimitReader(plain{strings.NewReader("small")}, hint),
			"Len":     lenReader{strings.NewReader("small"), int(min(hint, math.MaxInt))},
		} {
			p, _ := New(Options{Levels: []Level{{Size: 64}, {Size: 1024}}})
			b, err := p.ReadAll(r, hint)
			if err != nil || string(b.Bytes()) != "small" {
				t.Fatal(name, hint, err)
			}
			if p.Bytes() > 1<<20 {
				t.Errorf("%s %d: %d bytes taken, expected at most 1 MiB", name, hint, p.Bytes())
			}
			b.Release()
		}
	}
}

// TestSmallLimitTakesLittle: neither what lies beyond a limit nor what earlier
// streams were like makes a buffer larger.
func TestSmallLimitTakesLittle(t *testing.T) {
	p, _ := New(Options{})
	read := func(r io.Reader, limit int64) int {
		b, err := p.ReadAllN(r, -1, limit)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		return b.Cap()
	}
	long := pattern(1 << 20)
	if c := read(io.LimitReader(bytes.NewReader(long), 10), math.MaxInt64); c > 512 {
		t.Errorf("10 bytes of a long reader in memory: capacity %d, expected 512", c)
	}
	read(plain{bytes.NewReader(long)}, math.MaxInt64)
	if c := read(plain{strings.NewReader("short")}, 10); c > 512 {
		t.Errorf("a limit of 10 bytes after a stream of 1 MiB: capacity %d, expected 512", c)
	}
}

// TestHintBeyondTrustEndsExactly: the last step of a large stream is not doubled.
func TestHintBeyondTrustEndsExactly(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 512}}})
	n := 5<<20 + 1
	b, err := p.ReadAll(plain{bytes.NewReader(pattern(n))}, int64(n))
	if err != nil || b.Len() != n || b.Cap() != n {
		t.Fatalf("%v, length %d and capacity %d, expected %d", err, b.Len(), b.Cap(), n)
	}
	b.Release()
}

// TestKnownLengthInOneGo counts the Reads and the blocks of a stream whose
// length is known.
func TestKnownLengthInOneGo(t *testing.T) {
	for _, n := range []int{512, 4096, 10000, 1 << 20, 3 << 20} {
		p, _ := New(Options{})
		reads := 0
		r := bytes.NewReader(pattern(n))
		b, err := p.ReadAll(readFunc(func(p []byte) (int, error) { reads++; return r.Read(p) }), int64(n))
		if err != nil || b.Len() != n {
			t.Fatal(err)
		}
		if misses := total(p, func(s LevelStats) uint64 { return s.Misses }); reads != 2 || misses != 1 {
			t.Errorf("%d bytes: %d Reads and %d allocations, expected 2 (bytes, then io.EOF) and 1", n, reads, misses)
		}
		b.Release()
	}
}

// TestOneCopyPerClass: a stream of unknown length at least doubles its buffer.
func TestOneCopyPerClass(t *testing.T) {
	p, _ := New(Options{})
	b, err := p.ReadAll(plain{bytes.NewReader(pattern(1 << 20))}, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	for _, s := range p.Stats() {
		if s.Grows > 1 {
			t.Errorf("level %d was left %d times, expected at most once", s.Size, s.Grows)
		}
	}
	if grows := total(p, func(s LevelStats) uint64 { return s.Grows }); grows > 12 {
		t.Errorf("%d moves from 512 bytes to 1 MiB, expected at most 12", grows)
	}
}

// TestUnknownLengthLearns: the second such stream starts where the first ended.
func TestUnknownLengthLearns(t *testing.T) {
	p, _ := New(Options{})
	grows := func() uint64 { return total(p, func(s LevelStats) uint64 { return s.Grows }) }
	read := func(n int) {
		b, err := p.ReadAll(plain{bytes.NewReader(pattern(n))}, -1)
		if err != nil || b.Len() != n {
			t.Fatal(err)
		}
		b.Release()
	}
	read(100_000)
	first := grows()
	read(100_000)
	if again := grows() - first; first == 0 || again != 0 {
		t.Fatalf("%d moves at first, %d at the second: want some, then none", first, again)
	}
	for range 5000 {
		read(100)
	}
	if at := p.start.Load(); at > 1000 {
		t.Fatalf("after many small streams they start at %d bytes, expected at most 1000", at)
	}
}

func total(p *Pool, f func(LevelStats) uint64) uint64 {
	n := uint64(0)
	for _, s := range p.Stats() {
		n += f(s)
	}
	return n
}

func TestCopy(t *testing.T) {
	p, _ := New(Options{})
	data := pattern(300_000)
	for name, reader := range readers {
		var out bytes.Buffer
		n, err := p.Copy(struct{ io.Writer }{&out}, reader(data))
		if n != int64(len(data)) || err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Fatalf("%s: %d, %v", name, n, err)
		}
	}
	b := p.Get(0)
	defer b.Release()
	if n, err := p.Copy(b, plain{bytes.NewReader(data)}); n != int64(len(data)) || err != nil || !bytes.Equal(b.Bytes(), data) {
		t.Fatal(n, err)
	}
	if n := p.lentNow(); n != 1 {
		t.Fatalf("%d buffers lent, expected 1", n)
	}
}

// TestReaderPanics: off-heap memory is released; other memory is left to the
// collector, which finds it.
func TestReaderPanics(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 1 << 16, OffHeap: true}}})
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v, expected the reader's own panic", v)
			}
		}()
		p.ReadAll(readFunc(func([]byte) (int, error) { panic("boom") }), 100)
	}()
	if n := p.lentNow(); n != 0 {
		t.Fatalf("%d off-heap buffers not released", n)
	}
}
