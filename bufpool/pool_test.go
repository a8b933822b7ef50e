package bufpool

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/firncache/firn/internal/offheap"
)

var _ interface {
	io.ReadWriter
	io.ReaderFrom
	io.WriterTo
	io.ByteReader
	io.ByteWriter
	io.StringWriter
} = (*Buffer)(nil)

func TestOptionsAreChecked(t *testing.T) {
	many := make([]Level, maxLevels+1)
	for i := range many {
		many[i].Size = i + 1
	}
	for want, o := range map[string]Options{
		"MaxBytes is -1":            {MaxBytes: -1},
		"MaxBuffer is -1":           {MaxBuffer: -1},
		"Size is 0: want 1":         {Levels: []Level{{Size: 0}}},
		"Size is -4":                {Levels: []Level{{Size: 8}, {Size: -4}}},
		"Size is 200: want 1 to":    {Levels: []Level{{Size: 200}}, MaxBuffer: 100},
		"Size 64 is given twice":    {Levels: []Level{{Size: 64}, {Size: 128}, {Size: 64}}},
		"MaxBytes of size 64 is -1": {Levels: []Level{{Size: 64, MaxBytes: -1}}},
		"has 256 levels: want at m": {Levels: many},
		"Align is -1":               {Align: -1},
		"Align is 24":               {Align: 24},
		"Align is 8192":             {Align: 8192},
		"MaxBuffer is 2000: want L": {MaxBuffer: 2000, Align: 4096},
		"Size is 700: want a multi": {Levels: []Level{{Size: 700}}, Align: 512},
	} {
		if p, err := New(o); err == nil || p != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error that says %q", err, want)
		}
	}
	given := []Level{{Size: 9}, {Size: 3}}
	if _, err := New(Options{Levels: given}); err != nil || given[0].Size != 9 {
		t.Errorf("%v, %v: want the caller's slice untouched", err, given)
	}
}

// TestDefaultLevelsFit: MaxBuffer and Align leave out the levels that do not fit.
func TestDefaultLevelsFit(t *testing.T) {
	for _, c := range []struct {
		o           Options
		levels, top int
	}{{Options{}, 31, 16 << 20}, {Options{MaxBuffer: 1000}, 2, 768}, {Options{MaxBuffer: 1 << 20}, 23, 1 << 20}, {Options{Align: 512}, 30, 16 << 20}, {Options{Align: 4096, MaxBuffer: 10_000}, 2, 8192}} {
		p, err := New(c.o)
		if err != nil {
			t.Errorf("%+v: %v", c.o, err)
		} else if len(p.levels) != c.levels || p.top != c.top {
			t.Errorf("%+v: %d levels up to %d, want %d up to %d", c.o, len(p.levels), p.top, c.levels, c.top)
		}
	}
}

// TestLevelOf compares the table with a search, for every size and around all
// the borders.
func TestLevelOf(t *testing.T) {
	for name, levels := range map[string][]Level{
		"default": DefaultLevels(),
		"one":     {{Size: 1}},
		"dense":   {{Size: 1}, {Size: 2}, {Size: 3}, {Size: 4}, {Size: 5}, {Size: 1000}, {Size: 1001}, {Size: 1002}, {Size: 70000}},
	} {
		p, err := New(Options{Levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for n := 0; n <= p.top; n++ {
			if n > p.levels[i].size {
				i++
			}
			if l := p.levelOf(n); l != &p.levels[i] {
				t.Fatalf("%s: %d bytes go to level %d, expected %d", name, n, l.size, p.levels[i].size)
			}
		}
	}
	last := uint8(0)
	for n := 1; n > 0 && n < math.MaxInt/2; n += n/9 + 1 {
		if s := step(n); s < last {
			t.Fatalf("step(%d) is %d, below that of a smaller size, %d", n, s, last)
		} else {
			last = s
		}
	}
}

func TestDefaultLevelsWasteAtMostAThird(t *testing.T) {
	p, _ := New(Options{})
	for n := 513; n <= p.top; n += 1 + n/1000 {
		if c := p.levelOf(n).size; (c-n)*3 > c {
			t.Fatalf("%d bytes take a buffer of %d", n, c)
		}
	}
}

// TestAppendStaysInside: slices of one growth step lie side by side, and an
// append to one copies before it reaches the next.
func TestAppendStaysInside(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 32}}})
	var all []*Buffer
	for range 100 {
		b := p.Get(32)
		b.Write(bytes.Repeat([]byte{1}, 32))
		all = append(all, b)
	}
	for _, b := range all {
		_ = append(b.Bytes(), 2, 2, 2)
	}
	for i, b := range all {
		if !bytes.Equal(b.Bytes(), bytes.Repeat([]byte{1}, 32)) {
			t.Fatalf("buffer %d was overwritten by its neighbour's append", i)
		}
	}
}

// TestWriteItself: a buffer may be written to itself although what was read from
// its front would leave just room enough.
func TestWriteItself(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 100}, {Size: 1000}}})
	for read := range 71 {
		b := p.Get(100)
		b.Write(pattern(70))
		io.CopyN(io.Discard, b, int64(read))
		want := append(pattern(70)[read:], pattern(70)[read:]...)
		if b.Write(b.Bytes()); !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("%d bytes read: contents differ", read)
		}
		b.Release()
	}
}

func TestGrowthStepsDouble(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 1024}}})
	for range 128 {
		p.Get(1024)
	}
	s := p.Stats()[0]
	// 1, 1, 2, 4, … 64, and more where the scheduler moves the test: what the
	// other processor's cache holds for itself is not taken from it.
	if s.InUse != 128 || s.Misses < 8 || s.Misses > 12 || s.Bytes > 128<<10+2*growStep {
		t.Fatalf("128 buffers in %d growth steps, %d bytes: want 8 steps, or a few more", s.Misses, s.Bytes)
	}
}

// TestBorrow: a large idle buffer serves smaller requests, down to a quarter,
// before new memory is taken. It repeats because the scheduler may move the test
// away from the processor whose cache holds the buffer.
func TestBorrow(t *testing.T) {
	capOf := func(first, second int) int {
		p, _ := New(Options{})
		p.Get(first).Release()
		b := p.Get(second)
		defer b.Release()
		return b.Cap()
	}
	for _, c := range []struct{ first, second, want int }{
		{1 << 20, 1 << 20, 1 << 20},
		{1 << 20, 257 << 10, 1 << 20},
		{1 << 20, 256 << 10, 1 << 20},
		{1 << 20, 192 << 10, 192 << 10},
		{256 << 10, 64 << 10, 256 << 10},
		{128 << 10, 48 << 10, 48 << 10}, // below borrowFrom
		{64 << 10, 100 << 10, 128 << 10},
	} {
		got := 0
		for range 100 {
			if got = capOf(c.first, c.second); got == c.want {
				break
			}
		}
		if got != c.want {
			t.Errorf("Get(%d) while %d bytes are idle: capacity %d, expected %d", c.second, c.first, got, c.want)
		}
	}
}

func TestAboveTheTopLevel(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}}})
	b := p.Get(1000)
	if b.Cap() != 1000 {
		t.Fatalf("capacity %d, expected 1000", b.Cap())
	}
	if s := p.Stats()[1]; s.Size != 0 || s.InUse != 1 || s.Misses != 1 || s.Bytes != 1000 {
		t.Fatalf("%+v", s)
	}
	b.Release()
	if s := p.Stats()[1]; s.InUse != 0 || s.Idle != 0 || s.GivenBack != 1 || s.Bytes != 0 {
		t.Fatalf("after Release %+v: want nothing kept", s)
	}
}

// TestAlign: on the heap, off it, when memory outside is refused, in growth
// steps of many blocks, and above the top level.
func TestAlign(t *testing.T) {
	for _, align := range []int{1, 64, 512, 4096} {
		levels := []Level{{Size: 4096}, {Size: 12 << 10, OffHeap: true}, {Size: 20 << 10, OffHeap: true}}
		p, err := New(Options{Levels: levels, Align: align})
		if err != nil {
			t.Fatal(err)
		}
		p.levels[2].memory.alloc = func(int) ([]byte, error) { return nil, fmt.Errorf("no memory") }
		var held []*Buffer
		for range 40 {
			for _, n := range []int{1, 4096, 12 << 10, 20 << 10, 20<<10 + 1, 1<<20 + 512} {
				b := p.Get(n)
				held = append(held, b)
				mem, err := b.Extend(n)
				if err != nil || offheap.Misaligned(mem, align) != 0 || b.Cap() < n {
					t.Fatalf("align %d: %d bytes at %p, capacity %d: %v", align, n, mem, b.Cap(), err)
				}
			}
		}
		for _, b := range held {
			b.Release()
		}
	}
}

// TestAlignPads: memory that happens to be misaligned is replaced.
func TestAlignPads(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 512, OffHeap: true}}, Align: 512})
	freed := 0
	p.levels[0].memory = memory{
		alloc: func(n int) ([]byte, error) {
			mem := make([]byte, n+1024)
			return mem[offheap.Misaligned(mem, 512)+8:][:n], nil
		},
		free: func([]byte) error { freed++; return nil },
	}
	b := p.Get(512)
	mem, _ := b.Extend(512)
	if s := p.Stats()[0]; offheap.Misaligned(mem, 512) != 0 || s.OffHeapFail != 1 || freed != 1 {
		t.Fatalf("%p, %+v, %d freed: want a refusal counted and aligned memory from the heap", mem, s, freed)
	}
	b.Release()
}

func TestStats(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}, {Size: 256}}})
	b := p.Get(10)
	b.Grow(100)
	b.Release()
	got := p.Stats()
	want := []LevelStats{
		{Size: 64, Idle: 1, Bytes: 64, Misses: 1, Grows: 1},
		{Size: 256, Idle: 1, Bytes: 256, Misses: 1},
		{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	for range 1000 {
		p.Get(64).Release()
	}
	s := p.Stats()[0]
	if s.Hits+s.Misses != 1001 || s.InUse != 0 || s.Hits < 900 {
		t.Fatalf("after 1001 Gets one after the other: %+v", s)
	}
}

// TestNothingAllocated asserts that the steady state makes no garbage.
func TestNothingAllocated(t *testing.T) {
	if raceBuild || checkedBuild {
		t.Skip("the race detector and checked pools allocate")
	}
	p, _ := New(Options{})
	data := pattern(10_000)
	memory, r, one := bytes.NewReader(nil), &countReader{}, []byte{1}
	sink := io.Writer(struct{ io.Writer }{io.Discard})
	for name, f := range map[string]func(){
		"Get, Write, Release": func() {
			b := p.Get(100)
			b.Write(one)
			b.Release()
		},
		"Grow": func() {
			b := p.Get(100)
			b.Write(data[:100])
			b.Grow(5000)
			b.Release()
		},
		"Retain": func() {
			b := p.Get(100)
			b.Retain().Release()
			b.Release()
		},
		"ReadAll in memory": func() {
			memory.Reset(data)
			b, _ := p.ReadAll(memory, -1)
			b.Release()
		},
		"ReadAll with a hint": func() {
			r.left = 10_000
			b, _ := p.ReadAll(r, 10_000)
			b.Release()
		},
		"ReadAll without": func() {
			r.left = 10_000
			b, _ := p.ReadAll(r, -1)
			b.Release()
		},
		"Copy": func() {
			r.left = 100_000
			p.Copy(sink, r)
		},
	} {
		if n := testing.AllocsPerRun(500, f); n != 0 {
			t.Errorf("%s: %v allocations, expected 0", name, n)
		}
	}
}

// countReader gives left bytes of whatever is in the buffer.
type countReader struct{ left int }

func (r *countReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(r.left, len(p))
	r.left -= n
	return n, nil
}

func TestSlotFillsACacheLine(t *testing.T) {
	if size := reflect.TypeFor[slot]().Size(); size != 64 && math.MaxInt > math.MaxInt32 {
		t.Fatalf("a slot has %d bytes, expected 64: two of them in one line slow each other down", size)
	}
}

// TestManyGoroutines passes buffers between goroutines that retain, read and
// release them, while others read Stats.
func TestManyGoroutines(t *testing.T) {
	for name, p := range pools(t) {
		t.Run(name, func(t *testing.T) {
			shared := make(chan *Buffer, 64)
			var readers, writers sync.WaitGroup
			for range 8 {
				readers.Go(func() {
					for b := range shared {
						p := b.Bytes()
						if len(p) == 0 || bytes.Count(p, p[:1]) != len(p) {
							t.Errorf("a shared buffer of %d bytes has mixed contents", len(p))
						}
						b.Release()
					}
				})
			}
			for w := range 8 {
				writers.Go(func() {
					for i := range 500 {
						b := p.Get(rand.IntN(100))
						for range rand.IntN(300) + 1 {
							b.WriteByte(byte(w))
						}
						for range i % 4 {
							shared <- b.Retain()
						}
						b.Release()
						if i%100 == 0 {
							p.Stats()
							runtime.GC()
						}
					}
				})
			}
			writers.Wait()
			close(shared)
			readers.Wait()
			if n := p.lentNow(); n != 0 {
				t.Fatalf("%d buffers lent, expected 0", n)
			}
		})
	}
}
