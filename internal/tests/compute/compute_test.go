package compute

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// computeRAM is the budget: as little as may be, for it is filled over and over.
const computeRAM = firn.MinRAMBytesWithSSD

// computing is a cache in which one key is changed.
type computing struct {
	*testing.T
	c     *firn.Cache
	clock *cachetest.Clock // nil: the bubble's
	disk  *vfstest.Faulty  // nil: RAM alone
	key   []byte
}

// onTiers runs a test over RAM alone, and over RAM and an SSD, of which the key's entry
// is below when settle has been called.
func onTiers(t *testing.T, test func(w *computing)) {
	for _, below := range []bool{false, true} {
		t.Run(map[bool]string{false: "RAM", true: "RAM and SSD"}[below], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &computing{T: t, clock: &cachetest.Clock{}, key: []byte("key")}
				opts := firn.Options{RAMBytes: computeRAM, Clock: w.clock.Now, TTL: time.Minute}
				if below {
					w.disk = vfstest.NewFaulty(vfstest.NewMem())
					opts.SSD = harness.With(harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, w.disk), harness.Patiently)
				}
				var err error
				w.c, err = firn.Open(opts)
				harness.Must(t, err)
				defer w.c.Close()
				test(w)
			})
		})
	}
}

// settle pushes all entries out of RAM, where there is an SSD.
func (w *computing) settle() {
	w.Helper()
	if w.disk != nil {
		w.flood()
		if stats := w.c.Stats(); stats.SSD.Demotions == 0 {
			w.Fatalf("nothing went below: %+v", stats)
		}
	}
}

// flood pushes all entries out of RAM.
func (w *computing) flood() {
	w.Helper()
	value := make([]byte, 4<<10)
	for i := range computeRAM / len(value) {
		harness.Must(w, w.c.SetWithTTL(fmt.Appendf(nil, "other %d", i), value, firn.Forever))
	}
}

// holds demands a value and its time to live of the key, or nothing with a TTL of 0.
func (w *computing) holds(value string, ttl time.Duration) {
	w.Helper()
	v, err := w.c.Lookup(context.Background(), nil, w.key)
	left, ok := w.c.TTL(w.key)
	if ttl == 0 {
		if !errors.Is(err, firn.ErrNotFound) || ok {
			w.Errorf("%q, %v, TTL %v: want nothing", v, err, left)
		}
	} else if err != nil || string(v) != value || left != ttl {
		w.Errorf("%q, %v, TTL %v: want %q, TTL %v", v, err, left, value, ttl)
	}
}

// compute calls Compute with a function that wants to see one thing, and does another. It
// reports how often that was called.
func (w *computing) compute(see string, there bool, value string, op firn.Op) (calls int, err error) {
	w.Helper()
	err = w.c.Compute(context.Background(), w.key, func(old []byte, ok bool) ([]byte, firn.Op) {
		calls++
		if string(old) != see || ok != there {
			w.Errorf("the function saw %q, %v: want %q, %v", old, ok, see, there)
		}
		return []byte(value), op
	})
	return calls, err
}

// Each operation on each state of an entry, in RAM and on the SSD.
func TestCompute(t *testing.T) {
	t.Parallel()
	const none = time.Duration(0)
	states := map[string]struct {
		ttl, age time.Duration
		value    string
		left     time.Duration // 0: it counts as absent
	}{
		"absent":        {},
		"there":         {20 * time.Second, 5 * time.Second, "old", 15 * time.Second},
		"there forever": {firn.Forever, time.Hour, "old", firn.Forever},
		"expired":       {20 * time.Second, 20 * time.Second, "", none},
		"empty":         {20 * time.Second, 5 * time.Second, "", 15 * time.Second},
	}
	for name, state := range states {
		there := state.left != none
		updated := state.left
		if !there {
			updated = time.Minute
		}
		for _, x := range []struct {
			name  string
			op    firn.Op
			value string
			left  time.Duration
		}{
			{"OpKeep", firn.OpKeep, state.value, state.left},
			{"OpSet", firn.OpSet, "new", time.Minute},
			{"OpUpdate", firn.OpUpdate, "new", updated},
			{"OpDelete", firn.OpDelete, "", none},
			{"OpSetTTL", firn.OpSetTTL(3 * time.Second), "new", 3 * time.Second},
			{"OpSetTTL(Forever)", firn.OpSetTTL(firn.Forever), "new", firn.Forever},
		} {
			t.Run(name+"/"+x.name, func(t *testing.T) {
				onTiers(t, func(w *computing) {
					if state.ttl != none {
						harness.Must(t, w.c.SetWithTTL(w.key, []byte(map[bool]string{true: "", false: "old"}[name == "empty"]), state.ttl))
					}
					w.settle()
					w.clock.Advance(state.age)
					before := w.c.Stats()
					calls, err := w.compute(state.value, there, "new", x.op)
					after := w.c.Stats()
					if calls != 1 || err != nil {
						w.Errorf("%d calls, %v", calls, err)
					}
					if reads := after.Hits + after.Misses - before.Hits - before.Misses; x.op == firn.OpKeep && (reads != 1 || after.Sets != before.Sets || after.Deletes != before.Deletes) {
						w.Errorf("OpKeep made %d lookups, %d sets, %d deletes: want one lookup", reads, after.Sets-before.Sets, after.Deletes-before.Deletes)
					}
					w.holds(x.value, x.left)
					harness.Must(t, harness.CheckInvariants(w.c))
				})
			})
		}
	}
}

// A function that was overtaken by a write, of whatever kind, runs again, and sees what that
// has left; nothing of its first answer is done.
func TestComputeIsOvertaken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	load := func(context.Context, []byte) ([]byte, error) { return []byte("written"), nil }
	for name, x := range map[string]struct {
		first bool // there is a value to begin with
		write func(w *computing) error
		see   string
	}{
		"Set":         {true, func(w *computing) error { return w.c.Set(w.key, []byte("written")) }, "written"},
		"the same":    {true, func(w *computing) error { return w.c.Set(w.key, []byte("first")) }, "first"},
		"Set, absent": {false, func(w *computing) error { return w.c.Set(w.key, []byte("written")) }, "written"},
		"SetMulti": {true, func(w *computing) error {
			return w.c.SetMulti(ctx, [][]byte{[]byte("x"), w.key}, [][]byte{nil, []byte("written")})
		}, "written"},
		"Delete":         {true, func(w *computing) error { return w.c.Delete(w.key) }, ""},
		"Delete, absent": {false, func(w *computing) error { return w.c.Delete(w.key) }, ""},
		"a Set that fails": {true, func(w *computing) error {
			_ = w.c.Set(w.key, make([]byte, 1<<20))
			return nil
		}, ""},
		"Clear":   {true, func(w *computing) error { return w.c.Clear(ctx) }, ""},
		"Refresh": {true, func(w *computing) error { return harness.Err(w.c.Refresh(ctx, nil, w.key, load)) }, "written"},
		"a load": {false, func(w *computing) error {
			_, err := w.c.GetOrLoad(ctx, nil, w.key, load)
			return err
		}, "written"},
		"Compute": {true, func(w *computing) error {
			return w.c.Compute(ctx, w.key, func(old []byte, ok bool) ([]byte, firn.Op) { return []byte("written"), firn.OpSet })
		}, "written"},
		"GetAndDelete": {true, func(w *computing) error {
			_, err := w.c.GetAndDelete(ctx, nil, w.key)
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ops := []firn.Op{firn.OpSet, firn.OpUpdate, firn.OpDelete}
			if invariants.Race { // where bytes move by atomic words
				ops = ops[:1]
			}
			for _, op := range ops {
				onTiers(t, func(w *computing) {
					if x.first {
						harness.Must(t, w.c.Set(w.key, []byte("first")))
					}
					w.settle()
					var seen []string
					harness.Must(t, w.c.Compute(ctx, w.key, func(old []byte, ok bool) ([]byte, firn.Op) {
						if seen = append(seen, fmt.Sprintf("%s %v", old, ok)); len(seen) == 1 {
							harness.Must(t, x.write(w))
							return []byte("outdated"), op
						}
						return append(old, " and computed"...), firn.OpSet
					}))
					want := fmt.Sprintf("[%s %v]", map[bool]string{true: "first true", false: " false"}[x.first]+" "+x.see, x.see != "")
					if got := fmt.Sprint(seen); got != want {
						w.Errorf("the function saw %s, want %s", got, want)
					}
					w.holds(x.see+" and computed", time.Minute)
				})
			}
		})
	}
}

// What moves an entry, or lets it go, is no write: the function runs once, and what it
// returns is done.
func TestComputeIsNotOvertakenByMoves(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	for name, x := range map[string]struct {
		first bool
		move  func(w *computing)
	}{
		"eviction, or demotion":     {true, (*computing).flood},
		"of others":                 {false, (*computing).flood},
		"demotion and promotion":    {true, func(w *computing) { w.flood(); w.c.Get(nil, w.key) }},
		"expiry":                    {true, func(w *computing) { w.clock.Advance(time.Hour); harness.Sweep(w.c) }},
		"a budget that shrinks":     {true, func(w *computing) { harness.Must(w, w.c.SetRAMBytes(computeRAM*3/4)) }},
		"a write of another":        {true, func(w *computing) { harness.Must(w, w.c.Set([]byte("another"), nil)) }},
		"another that keeps":        {true, func(w *computing) { _, _ = w.c.SetIfAbsent(context.Background(), w.key, nil) }},
		"a read":                    {true, func(w *computing) { w.c.Get(nil, w.key) }},
		"a load that is not needed": {true, func(w *computing) { _, _ = w.c.GetOrLoad(context.Background(), nil, w.key, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			onTiers(t, func(w *computing) {
				old := ""
				if x.first {
					old = "first"
					harness.Must(t, w.c.Set(w.key, []byte(old)))
				}
				w.settle()
				calls := 0
				harness.Must(t, w.c.Compute(context.Background(), w.key, func(v []byte, ok bool) ([]byte, firn.Op) {
					if calls++; string(v) != old || ok != x.first {
						w.Errorf("the function saw %q, %v", v, ok)
					}
					x.move(w)
					return append(v, " and computed"...), firn.OpSetTTL(time.Second)
				}))
				if calls != 1 {
					w.Errorf("the function ran %d times", calls)
				}
				w.holds(old+" and computed", time.Second)
			})
		})
	}
}

// A Touch is no write: the function runs once, and OpUpdate keeps the deadline that there is by
// then. An operation with a time to live of its own has the last word.
func TestComputeBesideTouch(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		before, touch time.Duration
		op            firn.Op
		left          time.Duration
	}{
		"longer":     {20 * time.Second, time.Hour, firn.OpUpdate, time.Hour},
		"shorter":    {20 * time.Second, time.Second, firn.OpUpdate, time.Second},
		"forever":    {20 * time.Second, firn.Forever, firn.OpUpdate, firn.Forever},
		"no more":    {firn.Forever, time.Second, firn.OpUpdate, time.Second},
		"to be set":  {20 * time.Second, time.Hour, firn.OpSet, time.Minute},
		"with a TTL": {20 * time.Second, time.Hour, firn.OpSetTTL(3 * time.Second), 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range []string{"new", "longer than before"} {
				onTiers(t, func(w *computing) {
					harness.Must(t, w.c.SetWithTTL(w.key, []byte("old"), x.before))
					w.settle()
					calls := 0
					harness.Must(t, w.c.Compute(context.Background(), w.key, func([]byte, bool) ([]byte, firn.Op) {
						calls++
						ok, err := w.c.Touch(context.Background(), w.key, x.touch)
						if !ok || err != nil {
							w.Errorf("Touch: %v, %v", ok, err)
						}
						return []byte(value), x.op
					}))
					if calls != 1 {
						w.Errorf("the function ran %d times", calls)
					}
					w.holds(value, x.left)
					harness.Must(t, harness.CheckInvariants(w.c))
				})
			}
		})
	}
}

// The deadline of a Touch since the look is kept, too, if the touched entry has left RAM by
// then, or has expired: it is not back, to live longer than Touch said.
func TestComputeBesideTouchAndLeave(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		touch, passes, left time.Duration
	}{
		"longer":        {time.Hour, 0, time.Hour},
		"shorter":       {time.Second, 0, time.Second},
		"forever":       {firn.Forever, 0, firn.Forever},
		"until expired": {time.Second, 2 * time.Second, 0},
	} {
		for _, leaves := range []bool{false, true} {
			if !leaves && x.passes == 0 {
				continue // is TestComputeBesideTouch
			}
			t.Run(fmt.Sprintf("%s, leaves %v", name, leaves), func(t *testing.T) {
				onTiers(t, func(w *computing) {
					harness.Must(t, w.c.SetWithTTL(w.key, []byte("old"), 20*time.Second))
					w.settle()
					harness.Must(t, w.c.Compute(context.Background(), w.key, func([]byte, bool) ([]byte, firn.Op) {
						if ok, err := w.c.Touch(context.Background(), w.key, x.touch); !ok || err != nil {
							w.Errorf("Touch: %v, %v", ok, err)
						}
						if leaves {
							w.flood()
						}
						w.clock.Advance(x.passes)
						return []byte("new"), firn.OpUpdate
					}))
					w.holds("new", x.left)
					harness.Must(t, harness.CheckInvariants(w.c))
				})
			})
		}
	}
}
