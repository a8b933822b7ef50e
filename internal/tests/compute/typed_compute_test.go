package compute

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// onTypes runs a test over RAM alone, and over RAM and an SSD, with a front and without.
func onTypes(t *testing.T, test func(w *computing, people *firn.Typed[string, person])) {
	for name, fronted := range map[string]bool{"bytes": false, "front": true} {
		t.Run(name, func(t *testing.T) {
			onTiers(t, func(w *computing) {
				opts := firn.TypedOptions[string, person]{TTL: 30 * time.Second, HotValues: -1}
				if fronted {
					opts.HotValues = 1000
				}
				test(w, harness.NewTyped(t, w.c, "people", opts))
			})
		})
	}
}

type person struct {
	Name string
	Age  int
}

// Each operation, on a value that is there and on none; what Compute returns is what Get
// finds then.
func TestTypedCompute(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	ada, bob := person{"Ada", 36}, person{"Bob", 7}
	for name, x := range map[string]struct {
		there bool
		op    firn.Op
		want  person
		ok    bool
		ttl   time.Duration
	}{
		"keep":              {true, firn.OpKeep, ada, true, 20 * time.Second},
		"keep nothing":      {false, firn.OpKeep, person{}, false, 0},
		"set":               {true, firn.OpSet, bob, true, 30 * time.Second},
		"set the first":     {false, firn.OpSet, bob, true, 30 * time.Second},
		"update":            {true, firn.OpUpdate, bob, true, 20 * time.Second},
		"update nothing":    {false, firn.OpUpdate, bob, true, 30 * time.Second},
		"delete":            {true, firn.OpDelete, person{}, false, 0},
		"delete nothing":    {false, firn.OpDelete, person{}, false, 0},
		"with a TTL":        {true, firn.OpSetTTL(time.Second), bob, true, time.Second},
		"that does not end": {false, firn.OpSetTTL(firn.Forever), bob, true, firn.Forever},
	} {
		t.Run(name, func(t *testing.T) {
			onTypes(t, func(w *computing, people *firn.Typed[string, person]) {
				if x.there {
					harness.Must(t, people.SetWithTTL("key", ada, 25*time.Second))
				}
				people.Get("key") // into the front
				w.settle()
				w.clock.Advance(5 * time.Second)
				calls := 0
				now, ok, err := people.Compute(context.Background(), "key", func(old person, ok bool) (person, firn.Op) {
					if calls++; ok != x.there || ok && old != ada {
						w.Errorf("the function saw %v, %v", old, ok)
					}
					return bob, x.op
				})
				if now != x.want || ok != x.ok || err != nil || calls != 1 {
					w.Errorf("%v, %v, %v in %d calls: want %v, %v", now, ok, err, calls, x.want, x.ok)
				}
				if now, ok := people.Get("key"); now != x.want || ok != x.ok {
					w.Errorf("Get: %v, %v: want %v, %v", now, ok, x.want, x.ok)
				}
				if ttl, ok := people.TTL("key"); ttl != x.ttl || ok != x.ok {
					w.Errorf("TTL %v, %v: want %v, %v", ttl, ok, x.ttl, x.ok)
				}
			})
		})
	}
}

// A value that cannot be read counts as absent, once, and is gone afterwards; its deadline is
// nobody's.
func TestTypedComputeOfUnreadable(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]firn.Op{"keep": firn.OpKeep, "update": firn.OpUpdate, "set": firn.OpSet} {
		t.Run(name, func(t *testing.T) {
			onTiers(t, func(w *computing) {
				other := harness.NewTyped(t, w.c, "people", firn.TypedOptions[string, int]{})
				harness.Must(t, other.SetWithTTL("key", 5, time.Hour))
				harness.Must(t, other.Close())
				people := harness.NewTyped(t, w.c, "people", firn.TypedOptions[string, person]{})
				calls := 0
				now, ok, err := people.Compute(context.Background(), "key", func(old person, ok bool) (person, firn.Op) {
					if calls++; ok || old != (person{}) {
						w.Errorf("the function saw %v, %v", old, ok)
					}
					return person{Age: 1}, op
				})
				if want := op != firn.OpKeep; ok != want || (now == person{Age: 1}) != want || err != nil || calls != 1 {
					w.Errorf("%v, %v, %v in %d calls", now, ok, err, calls)
				}
				if n := w.c.Stats().Mismatches; n != 1 || people.Has("key") != ok {
					w.Errorf("%d mismatches, still there: %v", n, people.Has("key"))
				}
				if ttl, _ := people.TTL("key"); ok && ttl != time.Minute {
					w.Errorf("TTL %v", ttl)
				}
			})
		})
	}
}

// A Clear of the namespace while the function runs: what it makes of a cleared value is not
// found, and the value is not back.
func TestTypedComputeIsCleared(t *testing.T) {
	t.Parallel()
	onTypes(t, func(w *computing, people *firn.Typed[string, person]) {
		harness.Must(t, people.Set("key", person{"Ada", 36}))
		w.settle()
		_, _, err := people.Compute(context.Background(), "key", func(old person, ok bool) (person, firn.Op) {
			harness.Must(t, people.Clear(t.Context()))
			old.Age++
			return old, firn.OpUpdate
		})
		if v, ok := people.Get("key"); ok || err != nil {
			w.Errorf("%v is back, %v", v, err)
		}
		harness.Must(t, people.Set("key", person{"Bob", 7}))
		calls := 0
		now, _, err := people.Compute(context.Background(), "key", func(old person, ok bool) (person, firn.Op) {
			if calls++; calls == 1 {
				harness.Must(t, people.Set("key", person{"Bob", 8}))
			}
			old.Age++
			return old, firn.OpUpdate
		})
		if now != (person{"Bob", 9}) || err != nil || calls != 2 {
			w.Errorf("%v, %v, %d calls", now, err, calls)
		}
	})
}

// What is made of Compute.
func TestTypedSetIfAbsentAndCompareAndSwap(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onTypes(t, func(w *computing, people *firn.Typed[string, person]) {
		expect := func(want bool) func(got bool, err error) {
			return func(got bool, err error) {
				w.Helper()
				if got != want || err != nil {
					w.Errorf("%v, %v: want %v", got, err, want)
				}
			}
		}
		ada, bob := person{"Ada", 36}, person{"Bob", 7}
		expect(false)(people.CompareAndSwap(ctx, "key", ada, bob))
		expect(true)(people.SetIfAbsent(ctx, "key", ada))
		w.settle()
		expect(false)(people.SetIfAbsent(ctx, "key", bob))
		w.clock.Advance(time.Second)
		expect(false)(people.CompareAndSwap(ctx, "key", bob, ada))
		expect(true)(people.CompareAndSwap(ctx, "key", ada, bob))
		if ttl, ok := people.TTL("key"); ttl != 29*time.Second || !ok {
			w.Errorf("TTL %v", ttl)
		}
		w.settle()
		if v, err := people.GetAndDelete(ctx, "key"); v != bob || err != nil {
			w.Errorf("GetAndDelete: %v, %v", v, err)
		}
		if v, err := people.GetAndDelete(ctx, "key"); v != (person{}) || !errors.Is(err, firn.ErrNotFound) {
			w.Errorf("GetAndDelete again: %v, %v", v, err)
		}
	})
}

func testIncrement[V firn.Integer](t *testing.T, first, delta V) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL = time.Minute })
		numbers := harness.NewTyped(t, c, "numbers", firn.TypedOptions[string, V]{})
		for i, x := range []V{first, delta} {
			if _, err := firn.Increment(context.Background(), numbers, "n", x); i == 1 && (err == nil || !strings.Contains(err.Error(), "want a sum that fits")) {
				t.Errorf("%T: %d + %d: %v", first, first, delta, err)
			}
			time.Sleep(time.Second)
		}
		if n, err := firn.Increment(context.Background(), numbers, "n", 0); n != first || err != nil {
			t.Errorf("%d, %v: want %d", n, err, first)
		}
		if ttl, _ := numbers.TTL("n"); ttl != 58*time.Second {
			t.Errorf("TTL %v", ttl)
		}
	})
}

// A sum that the type does not hold is an error, and changes nothing.
func TestTypedIncrement(t *testing.T) {
	t.Parallel()
	testIncrement[int8](t, math.MaxInt8, 1)
	testIncrement[int8](t, -100, -100)
	testIncrement[uint8](t, 200, 56)
	testIncrement[int64](t, math.MinInt64, math.MinInt64)
	testIncrement[uint64](t, 1, math.MaxUint64)
	testIncrement[time.Duration](t, math.MaxInt64, time.Nanosecond)
}

// Errors of the codec, of the key and of the store come as they are, and change nothing.
func TestTypedComputeErrors(t *testing.T) {
	t.Parallel()
	onTiers(t, func(w *computing) {
		texts := harness.NewTyped(t, w.c, "texts", firn.TypedOptions[string, string]{Codec: failing{}})
		harness.Must(t, texts.Set("key", "old"))
		w.settle()
		for _, value := range []string{"fails", strings.Repeat("x", 1<<20)} {
			now, ok, err := texts.Compute(context.Background(), "key", func(string, bool) (string, firn.Op) { return value, firn.OpSet })
			if now != "" || ok || err == nil {
				w.Errorf("%q, %v, %v", now, ok, err)
			}
			if now, ok := texts.Get("key"); now != "old" || !ok {
				w.Errorf("%q, %v: want the old value", now, ok)
			}
		}
		harness.Must(t, w.c.Close())
		if _, _, err := texts.Compute(context.Background(), "key", nil); !errors.Is(err, firn.ErrClosed) {
			w.Error(err)
		}
	})
}

// failing is a codec that does not take every value.
type failing struct{}

func (failing) Name() string { return "failing" }

func (failing) Append(dst []byte, v string) ([]byte, error) {
	if v == "fails" {
		return dst, errors.New("as asked")
	}
	return append(dst, v...), nil
}

func (failing) Decode(b []byte) (string, error) { return string(b), nil }

// Each Compute counts in the namespace's figures as one lookup, and as what it has done.
func TestTypedComputeIsCounted(t *testing.T) {
	t.Parallel()
	onTypes(t, func(w *computing, people *firn.Typed[string, person]) {
		for _, op := range []firn.Op{firn.OpKeep, firn.OpSet, firn.OpUpdate, firn.OpSetTTL(time.Hour), firn.OpDelete, firn.OpDelete} {
			if _, _, err := people.Compute(context.Background(), "key", func(person, bool) (person, firn.Op) { return person{}, op }); err != nil {
				w.Error(err)
			}
		}
		if s := people.Stats(); s.Hits != 3 || s.Misses != 3 || s.Sets != 3 || s.Deletes != 2 {
			w.Errorf("%+v: want 3 hits, 3 misses, 3 sets, 2 deletes", s)
		}
	})
}
