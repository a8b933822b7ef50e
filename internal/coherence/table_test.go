package coherence

import "testing"

// world is a table with the bytes of one key, and fronts of it.
type world struct {
	table  Table
	space  Current
	key    []byte
	bytes  string
	fronts []*front
	detach func() uint64 // of the last front
}

// front has a value of the key, or none.
type front struct {
	value      string
	generation *Generation
}

func newWorld() *world {
	w := &world{bytes: "old"}
	w.space.Store(&Generation{Number: 7})
	w.key = append(w.space.Load().Append(nil), 'k')
	return w
}

// attach attaches a front.
func (w *world) attach(t *testing.T) *front {
	f := &front{}
	w.fronts = append(w.fronts, f)
	_, w.detach = w.table.Attach(&w.space, func(key []byte) {
		if string(key) != "k" {
			t.Errorf("asked to delete %q, want k", key)
		}
		*f = front{}
	})
	return f
}

// fill fills a front with the bytes, and does what else happens meanwhile. It
// reports whether the front was filled.
func (w *world) fill(f *front, meanwhile func()) bool {
	generation := w.space.Load()
	fill, value := w.table.BeginFill(w.key), w.bytes
	meanwhile()
	if !fill.Lock() {
		return false
	}
	defer fill.Unlock()
	*f = front{value, generation}
	return true
}

// write writes the bytes, and does what else happens meanwhile.
func (w *world) write(value string, meanwhile func()) {
	token := w.table.BeforeWrite(w.key)
	w.bytes = value
	meanwhile()
	w.table.AfterWrite(w.key, token)
}

// check looks whether a front says what the bytes do not.
func (w *world) check(t *testing.T, when string) {
	t.Helper()
	for i, f := range w.fronts {
		if f.generation != nil && f.generation == w.space.Load() && f.value != w.bytes {
			t.Errorf("%s: front %d has %q, the bytes are %q", when, i, f.value, w.bytes)
		}
	}
}

func nothing() {}

func TestFillsAndWrites(t *testing.T) {
	w := newWorld()
	f, other := w.attach(t), w.attach(t)
	if !w.fill(f, nothing) || !w.fill(other, nothing) {
		t.Error("not filled, though nothing was written")
	}
	w.check(t, "after fills")
	w.write("new", func() {
		if *f != (front{}) || *other != (front{}) {
			t.Errorf("while the bytes change, the fronts have %v, %v, want nothing", *f, *other)
		}
		if w.fill(f, nothing) {
			t.Error("filled while the bytes change")
		}
	})
	if w.fill(f, func() { w.write("newer", nothing) }) {
		t.Error("filled though the bytes changed meanwhile")
	}
	w.check(t, "after a write during a fill")
	if !w.fill(f, nothing) || f.value != "newer" {
		t.Errorf("after the writes, the front has %q, want newer", f.value)
	}
}

// A key that is too short to be of a namespace counts its writes all the same.
func TestShortKeys(t *testing.T) {
	w := newWorld()
	w.attach(t)
	w.key = []byte("short")
	w.write("new", func() {
		if w.fill(w.fronts[0], nothing) {
			t.Error("filled while the bytes change")
		}
	})
}

// A write of another generation's key leaves the fronts alone.
func TestOtherGenerations(t *testing.T) {
	w := newWorld()
	f := w.attach(t)
	w.fill(f, nothing)
	old := w.key
	w.space.Store(&Generation{Number: 8})
	w.key = append(w.space.Load().Append(nil), 'k')
	w.fill(f, nothing)
	filled := *f
	token := w.table.BeforeWrite(old)
	w.table.AfterWrite(old, token)
	if *f != filled {
		t.Error("a write under an old generation emptied the front of the new one")
	}
}

// A write that began before there was a front deletes, before it returns, what a
// front has taken since.
func TestAttachDuringWrite(t *testing.T) {
	w := newWorld()
	var f *front
	w.write("new", func() {
		f = w.attach(t)
		w.bytes = "old" // as a reader that was early
		if !w.fill(f, nothing) {
			t.Error("not filled: the write is not known")
		}
		w.bytes = "new"
	})
	w.check(t, "after the write")
	if !w.fill(f, nothing) {
		t.Error("not filled after the write: its stripe still counts it")
	}
}

// A front that is attached, and filled, while a write is on its way to where it
// counts itself in, is not left out.
func TestAttachBeforeBegin(t *testing.T) {
	w := newWorld()
	w.attach(t)
	s := w.table.attached.Load().stripe(w.key) // as far as BeforeWrite has come
	second := w.attach(t)
	w.fill(second, nothing)
	w.table.beginWrite(s, w.key)
	w.bytes = "new"
	w.table.AfterWrite(w.key, s)
	w.check(t, "after the write")
}

func TestClear(t *testing.T) {
	for name, attachBefore := range map[string]bool{"with a front": true, "with one that comes meanwhile": false} {
		w := newWorld()
		if attachBefore {
			w.fill(w.attach(t), nothing)
		}
		w.table.Clear(false, func() {
			if !attachBefore {
				w.fill(w.attach(t), nothing)
			}
			w.bytes = "cleared"
			if attachBefore {
				w.check(t, name+": before the end")
			}
		})
		w.check(t, name)
		if !w.fill(w.fronts[0], nothing) {
			t.Errorf("%s: not filled after Clear", name)
		}
		w.table.Clear(true, func() { w.bytes = "closed" })
		w.check(t, name+": for ever")
		if w.fill(w.fronts[0], nothing) {
			t.Errorf("%s: filled after the last Clear", name)
		}
	}
}

// A front that was detached has nothing of worth, and writes leave it alone.
func TestDetach(t *testing.T) {
	w := newWorld()
	stays := w.attach(t)
	f := w.attach(t)
	w.fill(stays, nothing)
	w.fill(f, nothing)
	w.detach()
	filled := *f
	w.check(t, "after detaching")
	w.write("new", nothing)
	if *f != filled {
		t.Error("a write emptied a front that was detached")
	}
	w.check(t, "after a write")
	if !w.fill(stays, nothing) || len(w.table.attached.Load().spaces[0].fronts) != 1 {
		t.Error("the other front is not filled, or the first is still known")
	}
	w.write("newer", nothing)
	w.check(t, "after another write")
	w.fronts = w.fronts[:0]
	w.attach(t)
	w.detach()
	if n := len(w.table.attached.Load().spaces[0].fronts); n != 1 {
		t.Errorf("%d fronts are known, want 1", n)
	}
}

func TestHits(t *testing.T) {
	var table Table
	if n := table.Hits(); n != 0 {
		t.Errorf("%d hits without a front, want 0", n)
	}
	var space Current
	space.Store(&Generation{})
	hits, detach := table.Attach(&space, func([]byte) {})
	again := 0
	const n = 3 * hitStripes * readAgainEvery
	for range n {
		if hits.Count() {
			again++
		}
	}
	if got := table.Hits(); got != n || again == 0 {
		t.Errorf("%d hits, and %d times the bytes are to be read: want %d, and some", got, again, n)
	}
	more, detachSecond := table.Attach(&space, func([]byte) {})
	if more != hits {
		t.Error("a second front has a counter of its own")
	}
	var other Current
	other.Store(&Generation{})
	others, _ := table.Attach(&other, func([]byte) {})
	others.Count()
	if got, of := table.Hits(), table.HitsOf(&other); got != n+1 || of != 1 {
		t.Errorf("%d hits, %d of another namespace: want %d, 1", got, of, n+1)
	}
	if first, second := detachSecond(), detach(); first != 0 || second != n {
		t.Errorf("detached with %d and %d hits, want 0 and %d", first, second, n)
	}
	if got, of := table.Hits(), table.HitsOf(&space); got != n+1 || of != 0 {
		t.Errorf("%d hits after the fronts are gone, %d of their namespace: want %d, 0", got, of, n+1)
	}
}

func TestWritesDoNotAllocate(t *testing.T) {
	w := newWorld()
	w.table.Attach(&w.space, func([]byte) {})
	if n := testing.AllocsPerRun(100, func() { w.table.AfterWrite(w.key, w.table.BeforeWrite(w.key)) }); n != 0 {
		t.Errorf("%v allocations in a write, want none", n)
	}
}
