package ram

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/watch"
)

// A write that is bound to a watch happens if the key was not written since: by
// no Set, Delete or Clear, also of a key that was absent. What moves, expires or
// leaves by itself was not written.
func TestWatch(t *testing.T) {
	key := []byte("key")
	for _, x := range []struct {
		name     string
		first    int64 // the deadline of a value that is there when the watch begins; -1: there is none
		then     func(t *Tier, now *atomic.Int64)
		unchange bool
	}{
		{"absent, nothing", -1, func(*Tier, *atomic.Int64) {}, true},
		{"absent, Set", -1, func(t *Tier, _ *atomic.Int64) { t.setKey(key, []byte("x"), 0) }, false},
		{"absent, Set and Delete", -1, func(t *Tier, _ *atomic.Int64) { t.setKey(key, []byte("x"), 0); t.deleteKey(key) }, false},
		{"absent, Delete", -1, func(t *Tier, _ *atomic.Int64) { t.deleteKey(key) }, false},
		{"absent, Clear", -1, func(t *Tier, _ *atomic.Int64) { t.Clear() }, false},
		{"absent, negative Set", -1, func(t *Tier, _ *atomic.Int64) { t.setKey(key, nil, -5000) }, false},
		{"absent, Set of another", -1, func(t *Tier, _ *atomic.Int64) { t.setKey([]byte("yek"), nil, 0) }, true},
		{"there, nothing", 0, func(*Tier, *atomic.Int64) {}, true},
		{"there, read", 0, func(t *Tier, _ *atomic.Int64) { t.Get(nil, key) }, true},
		{"there, Set in place", 0, func(t *Tier, _ *atomic.Int64) { t.setKey(key, []byte("2nd"), 0) }, false},
		{"there, Set of another length", 0, func(t *Tier, _ *atomic.Int64) { t.setKey(key, []byte("second"), 0) }, false},
		{"there, Set that is too large", 0, func(t *Tier, _ *atomic.Int64) { t.setKey(key, make([]byte, 1<<20), 0) }, false},
		{"there, Delete", 0, func(t *Tier, _ *atomic.Int64) { t.deleteKey(key) }, false},
		{"there, Clear", 0, func(t *Tier, _ *atomic.Int64) { t.Clear() }, false},
		{"there, moved", 0, func(t *Tier, _ *atomic.Int64) { moveAll(t) }, true},
		{"there, evicted", 0, func(t *Tier, _ *atomic.Int64) { evictAll(t) }, true},
		{"expiring, expired", 2000, func(_ *Tier, now *atomic.Int64) { now.Store(2000) }, true},
		{"expiring, swept", 2000, func(t *Tier, now *atomic.Int64) { now.Store(9000); t.Sweep() }, true},
		{"expiring, swept and set", 2000, func(t *Tier, now *atomic.Int64) { now.Store(9000); t.Sweep(); t.setKey(key, []byte("x"), 0) }, false},
	} {
		for _, mask := range []uint64{0, 1 << 63} { // with it, all keys share two hashes
			if mask != 0 && x.name == "there, evicted" {
				continue // it takes too long
			}
			for _, del := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, mask %x, delete %v", x.name, mask, del), func(t *testing.T) {
					t.Parallel()
					testWatch(t, key, mask, x.first, x.then, x.unchange, del)
				})
			}
		}
	}
}

func testWatch(t *testing.T, key []byte, mask uint64, first int64, then func(*Tier, *atomic.Int64), unchange, del bool) {
	var now atomic.Int64
	now.Store(1000)
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: now.Load, HashMask: mask})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	if first >= 0 {
		if err := tier.setKey(key, []byte("1st"), first); err != nil {
			t.Fatal(err)
		}
	}
	var w, other watch.Watch
	told := 0
	w.Written = watch.WrittenFunc(func() { told++ })
	tier.watchKey(&other, []byte("another"))
	tier.watchKey(&w, key)
	then(tier, &now)
	if want := map[bool]int{false: 1}[unchange]; told != want || w.Voided() == unchange {
		t.Errorf("told %d times, void: %v", told, w.Voided())
	}
	if got := other.Voided(); got != strings.Contains(t.Name(), "Clear") {
		t.Errorf("the watch of another key is void: %v", got)
	}
	before, _, there := tier.peekStaleKey(nil, key)
	var left evicted.List
	if del {
		err = tier.DeleteIf(&w, &left)
	} else {
		err = tier.SetIf(&w, []byte("loaded"), 0, &left)
	}
	if want := map[bool]error{true: nil, false: watch.ErrChanged}[unchange]; err != want {
		t.Errorf("%v, want %v", err, want)
	}
	after, _, ok := tier.peekStaleKey(nil, key)
	got, want := fmt.Sprintf("%q %v", after, ok), fmt.Sprintf("%q %v", before, there)
	if unchange {
		want = map[bool]string{false: `"loaded" true`, true: `"" false`}[del]
	}
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	tier.Unwatch(&w)
	tier.Unwatch(&other)
	for i := range tier.shards {
		if !tier.shards[i].watches.None() {
			t.Errorf("shard %d still has watches", i)
		}
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// What a watch itself writes does not end it; what others write afterwards does,
// and so does Void, of which nobody is told.
func TestWatchGoesOn(t *testing.T) {
	t.Parallel()
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	key, told := []byte("key"), 0
	var left evicted.List
	a, b := watch.Watch{Written: watch.WrittenFunc(func() { told++ })}, watch.Watch{Written: watch.WrittenFunc(func() { told += 10 })}
	tier.watchKey(&a, key)
	tier.watchKey(&b, key)
	for _, write := range []func() error{
		func() error { return tier.SetIf(&a, []byte("1"), 0, &left) },
		func() error { return tier.SetIf(&a, []byte("2"), 0, &left) },
		func() error { return tier.DeleteIf(&a, &left) },
	} {
		if err := write(); err != nil || a.Voided() || !b.Voided() || told != 10 {
			t.Errorf("%v, void: %v and %v, told %d", err, a.Voided(), b.Voided(), told)
		}
	}
	tier.deleteKey(key)
	if !a.Voided() || told != 11 {
		t.Errorf("after another's write: void %v, told %d", a.Voided(), told)
	}
	c := watch.Watch{Written: watch.WrittenFunc(func() { t.Error("told of Void") })}
	tier.watchKey(&c, key)
	c.Void()
	if err := tier.SetIf(&c, nil, 0, &left); err != watch.ErrChanged {
		t.Errorf("SetIf after Void: %v", err)
	}
	tier.Unwatch(&c)
	if tier.Close(); tier.SetIf(&a, nil, 0, &left) != ErrClosed || tier.DeleteIf(&a, &left) != ErrClosed {
		t.Error("no ErrClosed after Close")
	}
}

// moveAll moves every record to the end of its lane.
func moveAll(t *Tier) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for q := range policy.Lane(segments.Lanes) {
			s.seal(q)
			if id := s.queues[q].Head; id != 0 {
				s.clean(id)
			}
		}
		s.unlockAndNotify()
	}
}

// evictAll pushes everything out that was there.
func evictAll(t *Tier) {
	for i := range 2000 {
		t.setKey(fmt.Append(nil, i), make([]byte, 100), 0)
	}
}

// A watch without Written ends with its own write, or another's, and may then begin anew at
// once, though the writer may still be telling others: nothing allocates, however many
// there are, up to a few.
func TestWatchAgain(t *testing.T) {
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	key, other := []byte("key"), []byte("another")
	var left evicted.List
	var a, b watch.Watch
	told := watch.Watch{Written: watch.WrittenFunc(func() {
		if !a.Voided() || !b.Voided() {
			t.Error("told before all were void")
		}
		tier.watchKey(&a, other) // as their owners may by now
		tier.watchKey(&b, other)
	})}
	tier.watchKey(&a, key)
	tier.watchKey(&told, key)
	tier.watchKey(&b, key)
	if err := tier.SetIf(&a, []byte("1"), 0, &left); err != nil || !told.Voided() || a.Voided() || b.Voided() {
		t.Errorf("%v; the others are void: %v; those that began anew: %v, %v", err, told.Voided(), a.Voided(), b.Voided())
	}
	if err := tier.SetIf(&b, []byte("2"), 0, &left); err != nil || !a.Voided() {
		t.Errorf("%v; the other is void: %v", err, a.Voided())
	}
	if err := tier.SetIf(&a, []byte("3"), 0, &left); err != watch.ErrChanged {
		t.Errorf("%v, want %v", err, watch.ErrChanged)
	}
	if err := tier.SetIf(&b, []byte("3"), 0, &left); err != watch.ErrChanged {
		t.Errorf("once more with the same watch: %v, want %v", err, watch.ErrChanged)
	}
	if n := testing.AllocsPerRun(100, func() {
		tier.watchKey(&a, key)
		tier.watchKey(&b, key)
		_ = tier.SetIf(&a, []byte("1"), 0, &left)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if tier.Watched() {
		t.Error("something is still watched")
	}
}

// Many watches of one shard are kept apart, whichever order they end in.
func TestManyWatches(t *testing.T) {
	t.Parallel()
	for _, mask := range []uint64{0, 1 << 63} { // with it, all keys share two hashes
		tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, HashMask: mask})
		if err != nil {
			t.Fatal(err)
		}
		const keys, each = 200, 3
		told := make([]int, keys)
		watches := make([]watch.Watch, keys*each)
		for i := range watches {
			k := i % keys
			if i < keys {
				watches[i].Written = watch.WrittenFunc(func() { told[k]++ })
			}
			tier.watchKey(&watches[i], fmt.Append(nil, k))
		}
		for i := range keys {
			k := i * 77 % keys
			if i%3 == 0 {
				tier.deleteKey(fmt.Append(nil, k))
			} else {
				tier.Unwatch(&watches[k+keys])
			}
			for j := range each {
				if void, want := watches[k+j*keys].Voided(), i%3 == 0 || j == 1; void != want {
					t.Fatalf("mask %x, key %d, watch %d: void %v, want %v", mask, k, j, void, want)
				}
			}
			if want := map[bool]int{true: 1}[i%3 == 0]; told[k] != want {
				t.Errorf("told %d times of key %d, want %d", told[k], k, want)
			}
		}
		if !tier.Watched() {
			t.Error("nothing is watched")
		}
		if tier.Clear(); tier.Watched() {
			t.Error("after Clear something is watched")
		}
		tier.Close()
	}
}

// manyWatches is more than a watch.Table lists without a map.
const manyWatches = 8

// Each watch of a key knows what the last Touch since it began has made of the deadline,
// though the record has left: those in the map, too. One that begins anew knows nothing.
func TestWatchKnowsTouch(t *testing.T) {
	t.Parallel()
	now := int64(1000)
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	key, other := []byte("key"), []byte("another")
	for _, k := range [][]byte{key, other} {
		if err := tier.setKey(k, nil, 2000); err != nil {
			t.Fatal(err)
		}
	}
	var left evicted.List
	for i := range manyWatches {
		for _, to := range []int64{0, 9000, 3000} {
			if ok, err := tier.Touch(tier.Hash(key), key, to); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if i == 0 {
				break // a watch that begins after it is not told
			}
		}
		watches := make([]watch.Watch, manyWatches)
		for k := range watches {
			tier.watchKey(&watches[k], key)
		}
		for _, to := range []int64{5000, 4000} {
			if ok, err := tier.Touch(tier.Hash(key), key, to); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if ok, err := tier.Touch(tier.Hash(other), other, 7000); !ok || err != nil {
			t.Fatal(ok, err)
		}
		now = 4000 // it has left
		w := &watches[i]
		if err := tier.UpdateIf(w, nil, 6000, &left); err != nil {
			t.Fatal(err)
		}
		now = 1000
		if d, ok := tier.deadlineOf(key); d != 4000 || !ok {
			t.Errorf("watch %d: it expires at %d, %v, want 4000", i, d, ok)
		}
		tier.deleteKey(key)
		tier.watchKey(w, key)
		if err := tier.UpdateIf(w, nil, 6000, &left); err != nil {
			t.Fatal(err)
		}
		if d, ok := tier.deadlineOf(key); d != 6000 || !ok {
			t.Errorf("watch %d that began anew: it expires at %d, %v, want 6000", i, d, ok)
		}
	}
	if tier.Watched() {
		t.Error("something is still watched")
	}
}
