package bufpool

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// panics runs f and returns the message it panicked with, or "".
func panics(f func()) (message string) {
	defer func() {
		if v := recover(); v != nil {
			message = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// calls are all methods of a Buffer, those that only look first.
var calls = map[string]func(b *Buffer){
	"Bytes":       func(b *Buffer) { b.Bytes() },
	"String":      func(b *Buffer) { _ = b.String() },
	"Clone":       func(b *Buffer) { b.Clone().Release() },
	"Len":         func(b *Buffer) { b.Len() },
	"Cap":         func(b *Buffer) { b.Cap() },
	"Err":         func(b *Buffer) { b.Err() },
	"Retain":      func(b *Buffer) { b.Retain() },
	"Release":     func(b *Buffer) { b.Release() },
	"Reset":       func(b *Buffer) { b.Reset() },
	"Truncate":    func(b *Buffer) { b.Truncate(0) },
	"Grow":        func(b *Buffer) { b.Grow(1) },
	"Extend":      func(b *Buffer) { b.Extend(1) },
	"Write":       func(b *Buffer) { b.Write(nil) },
	"WriteString": func(b *Buffer) { b.WriteString("") },
	"WriteByte":   func(b *Buffer) { b.WriteByte(0) },
	"Read":        func(b *Buffer) { b.Read(nil) },
	"Next":        func(b *Buffer) { b.Next(0) },
	"ReadByte":    func(b *Buffer) { b.ReadByte() },
	"ReadFrom":    func(b *Buffer) { b.ReadFrom(strings.NewReader("x")) },
	"WriteTo":     func(b *Buffer) { b.WriteTo(io.Discard) },
}

var sharedCalls = map[string]bool{"Bytes": true, "String": true, "Clone": true, "Len": true, "Cap": true, "Err": true, "Retain": true, "Release": true}

// TestCallsAreAllMethods keeps the table complete.
func TestCallsAreAllMethods(t *testing.T) {
	for m := range reflect.TypeFor[*Buffer]().Methods() {
		if calls[m.Name] == nil {
			t.Errorf("method %s is not in calls: add it", m.Name)
		}
	}
}

func pools(t *testing.T) map[string]*Pool {
	t.Helper()
	made := map[string]*Pool{}
	for name, checked := range map[string]bool{"plain": false, "checked": true} {
		p, err := New(Options{Levels: []Level{{Size: 64}, {Size: 256}}, Checked: checked})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = p
	}
	return made
}

func TestUseAfterRelease(t *testing.T) {
	for name, p := range pools(t) {
		for method, call := range calls {
			for _, size := range []int{0, 64, 200, 1000} { // the last is never kept
				b := p.Get(size)
				b.Release()
				if got := panics(func() { call(b) }); !strings.Contains(got, "after Release") {
					t.Errorf("%s pool, %s after Release of %d bytes: panic %q, expected one about Release", name, method, size, got)
				}
			}
		}
		if n := p.lentNow(); n != 0 {
			t.Errorf("%s pool: %d buffers in use, expected 0", name, n)
		}
	}
}

func TestSharedIsReadOnly(t *testing.T) {
	for name, p := range pools(t) {
		for method, call := range calls {
			b := p.Get(10)
			b.Retain()
			got := panics(func() { call(b) })
			if sharedCalls[method] != (got == "") || got != "" && !strings.Contains(got, "2 references") {
				t.Errorf("%s pool, %s of a shared buffer: panic %q", name, method, got)
			}
		}
	}
}

// TestStaleHandle: in a checked pool an old handle never passes for the new
// owner's, although both are of the same memory.
func TestStaleHandle(t *testing.T) {
	p := pools(t)["checked"]
	for method, call := range calls {
		old, b := (*Buffer)(nil), (*Buffer)(nil)
		for tries := 0; b == nil || b.slot != old.slot; tries++ { // until the scheduler leaves the test on one processor
			if tries == 1000 {
				t.Fatal("a buffer was never lent again")
			}
			if b != nil {
				b.Release()
			}
			old = p.Get(10)
			old.Release()
			b = p.Get(10)
		}
		got := panics(func() { call(old) })
		if !strings.Contains(got, "lent again since") || !strings.Contains(got, "misuse_test.go") {
			t.Errorf("%s through a stale handle: panic %q, expected the place that took it", method, got)
		}
		b.Release()
	}
}

func TestWriteAfterReleaseIsFound(t *testing.T) {
	p := pools(t)["checked"]
	b := p.Get(64)
	stale := b.Bytes()[:64]
	b.Release()
	stale[63] = 1
	got := panics(func() {
		for range 100 { // until the same memory is lent
			defer p.Get(64).Release()
		}
	})
	if !strings.Contains(got, "byte 63 of a 64-byte buffer was written after Release") || !strings.Contains(got, "TestWriteAfterReleaseIsFound") {
		t.Fatalf("panic %q, expected the byte and the place", got)
	}
}

func TestReadAfterReleaseIsPoison(t *testing.T) {
	p := pools(t)["checked"]
	b := p.Get(64)
	b.WriteString("secret")
	stale := b.Bytes()
	b.Release()
	for i, c := range stale[:cap(stale)] {
		if c != poisonByte {
			t.Fatalf("byte %d is %#x after Release, expected poison", i, c)
		}
	}
}

// TestGrowPoisonsTheOldBlock: slices from before a move are stale too.
func TestGrowPoisonsTheOldBlock(t *testing.T) {
	p := pools(t)["checked"]
	b := p.Get(64)
	b.WriteString("kept")
	stale := b.Bytes()
	b.Grow(200)
	if string(stale) == "kept" || string(b.Bytes()) != "kept" {
		t.Fatalf("before the move %q, after it %q: want poison and %q", stale, b.Bytes(), "kept")
	}
	b.Release()
}

// TestReleasesAtOnce: of two Releases at the same moment one panics, always.
func TestReleasesAtOnce(t *testing.T) {
	p := pools(t)["checked"]
	for round := range 20000 {
		b := p.Get(10)
		var wg sync.WaitGroup
		found := make([]string, 2)
		waiting := atomic.Int32{}
		for i := range found {
			wg.Go(func() {
				for waiting.Add(1); waiting.Load() < int32(len(found)); {
					runtime.Gosched()
				}
				found[i] = panics(b.Release)
			})
		}
		wg.Wait()
		quiet := 0
		for _, m := range found {
			if m == "" {
				quiet++
			}
		}
		if quiet != 1 {
			t.Fatalf("round %d: %d of 2 Releases passed, expected 1: %q", round, quiet, found)
		}
	}
}

func TestTooManyReferences(t *testing.T) {
	for name, p := range pools(t) {
		b := p.Get(10)
		for b.slot.state.get().refs() < int(maxRefs) {
			b.Retain()
		}
		if got := panics(func() { b.Retain() }); !strings.Contains(got, "references already") {
			t.Fatalf("%s pool: panic %q", name, got)
		}
		for range int(maxRefs) {
			b.Release()
		}
		if n := p.lentNow(); n != 0 {
			t.Fatalf("%s pool: %d in use, expected 0", name, n)
		}
	}
}

// TestAbsurdSizes: an error, never a panic, and never an allocation.
func TestAbsurdSizes(t *testing.T) {
	for name, p := range pools(t) {
		for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt - 63, 1<<30 + 1} {
			want := ErrTooLarge
			if n < 0 {
				want = ErrNegative
			}
			b := p.Get(n)
			if !errors.Is(b.Err(), want) || !strings.Contains(b.Err().Error(), fmt.Sprint(n)) {
				t.Errorf("%s: Get(%d).Err() is %v, expected %v", name, n, b.Err(), want)
			}
			if _, err := b.Write([]byte("x")); !errors.Is(err, want) {
				t.Errorf("%s: Write after Get(%d): %v", name, n, err)
			}
			if _, err := b.ReadFrom(strings.NewReader("x")); !errors.Is(err, want) {
				t.Errorf("%s: ReadFrom after Get(%d): %v", name, n, err)
			}
			b.Release()

			b = p.Get(10)
			b.WriteString("kept")
			if err := b.Grow(n); !errors.Is(err, want) {
				t.Errorf("%s: Grow(%d): %v, expected %v", name, n, err, want)
			}
			if _, err := b.Extend(n); !errors.Is(err, want) {
				t.Errorf("%s: Extend(%d): %v, expected %v", name, n, err, want)
			}
			if err := b.Truncate(n); err == nil || string(b.Bytes()) != "kept" {
				t.Errorf("%s: Truncate(%d): %v, %q", name, n, err, b.Bytes())
			}
			b.Release()
		}
		if p.Bytes() > 1024 || p.lentNow() != 0 {
			t.Errorf("%s: %d bytes taken, %d lent", name, p.Bytes(), p.lentNow())
		}
	}
}

func TestMaxBuffer(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 16}}, MaxBuffer: 100})
	b := p.Get(100)
	if n, err := b.Write(pattern(100)); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	if err := b.WriteByte(1); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("byte 101: %v, expected ErrTooLarge", err)
	}
	if n, err := b.Write(pattern(7)); n != 0 || !errors.Is(err, ErrTooLarge) || b.Len() != 100 {
		t.Fatalf("%d, %v, length %d", n, err, b.Len())
	}
	b.Release()
	for n, want := range map[int]error{100: nil, 101: ErrTooLarge} {
		b, err := p.ReadAll(plain{strings.NewReader(strings.Repeat("x", n))}, -1)
		if !errors.Is(err, want) {
			t.Errorf("ReadAll of %d bytes: %v, expected %v", n, err, want)
		}
		b.Release() // nil beside an error
	}
}

func TestWriterLies(t *testing.T) {
	p, _ := New(Options{})
	var given []byte
	for n, want := range map[int]error{-1: nil, 9: nil, 2: io.ErrShortWrite} {
		b := p.Get(8)
		b.WriteString("abc")
		_, err := b.WriteTo(writeFunc(func(p []byte) (int, error) { given = p; return n, nil }))
		if err == nil || want != nil && err != want {
			t.Errorf("writer that returns %d of 3: %v", n, err)
		}
		if cap(given) != 3 {
			t.Errorf("the writer was given a slice of capacity %d, expected 3", cap(given))
		}
		if n == 2 && string(b.Bytes()) != "c" {
			t.Errorf("after a short write %q is left, expected %q", b.Bytes(), "c")
		}
		b.Release()
	}
	b := p.Get(8)
	b.WriteString("abc")
	got := panics(func() { b.WriteTo(writeFunc(func(p []byte) (int, error) { b.Release(); return len(p), nil })) })
	if !strings.Contains(got, "after Release") {
		t.Errorf("Release inside WriteTo: panic %q", got)
	}
	b = p.Get(8)
	got = panics(func() { b.ReadFrom(readFunc(func(p []byte) (int, error) { b.Release(); return 0, io.EOF })) })
	if !strings.Contains(got, "after Release") {
		t.Errorf("Release inside ReadFrom: panic %q", got)
	}
}

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestReleasesAtOnceUnchecked plays what two Releases of an unchecked pool may
// do when they do not see each other: the buffer lies in the stash twice, or is
// given back twice. It never has two owners.
func TestReleasesAtOnceUnchecked(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}}})
	b := p.Get(1)
	b.Release()
	b.slot.level.stash.put(b)
	owners := map[*slot]bool{}
	for range 3 {
		got := p.Get(1)
		if owners[got.slot] {
			t.Fatal("two owners of one buffer")
		}
		owners[got.slot] = true
	}

	b = p.Get(1000)
	above := b.slot.level
	above.giveBack(b)
	if got := panics(func() { above.giveBack(b) }); !strings.Contains(got, "Release on a buffer after Release") {
		t.Fatalf("given back twice: panic %q", got)
	}
}

func TestNextOfLessThanNothing(t *testing.T) {
	p, _ := New(Options{})
	b := p.Get(10)
	defer b.Release()
	b.WriteString("kept")
	if got, want := panics(func() { b.Next(-1) }), "bufpool: Next(-1): want 0 or more"; got != want || b.String() != "kept" {
		t.Errorf("panic %q, want %q; left: %q", got, want, b)
	}
}

// Without a buffer there is a text still, as with bytes.Buffer; a clone of one that
// has no memory says why, too.
func TestStringAndCloneWithoutMemory(t *testing.T) {
	var none *Buffer
	if s := none.String(); s != "<nil>" {
		t.Errorf("String of nil: %q", s)
	}
	p, _ := New(Options{Levels: []Level{{Size: 16}}, MaxBuffer: 100})
	refused := p.Get(101)
	clone := refused.Clone()
	if err := clone.Err(); !errors.Is(err, ErrTooLarge) || clone.String() != "" {
		t.Errorf("a clone of a refused buffer: %v, %q", err, clone)
	}
	clone.Release()
	refused.Release()
}
