package ram

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/evicted"
)

// PeekStale finds what a simple model finds, and Get, Peek, Deadline and All
// find nothing but what has not expired and is no negative entry, whatever moves and
// is swept meanwhile.
func TestPeekStale(t *testing.T) {
	oneGoroutine(t)
	const grace = 5000
	var clock atomic.Int64
	clock.Store(1000)
	var told [evicted.Deleted + 1]atomic.Int64
	tier, err := New(Config{Bytes: 1 << 20, Seed: 1, Now: clock.Load, Grace: grace, OnEvict: func(key, value []byte, cause evicted.Cause) {
		if len(value) == 0 {
			t.Errorf("told of the negative %q", key)
		}
		told[cause].Add(1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	type entry struct {
		value    string
		deadline int64
	}
	model := map[string]entry{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		now := clock.Load()
		key := fmt.Appendf(nil, "key %d", rng.IntN(100))
		switch rng.IntN(8) {
		case 0, 1:
			e := entry{fmt.Sprintf("%d%0*d", i, rng.IntN(50)+rng.IntN(2)*3000, 0), now + 1 + rng.Int64N(3000)}
			if rng.IntN(4) == 0 {
				e.deadline = 0
			}
			if err := tier.setKey(key, []byte(e.value), e.deadline); err != nil {
				t.Fatal(err)
			}
			model[string(key)] = e
		case 2:
			e := entry{"", -(now + 1 + rng.Int64N(3000))}
			if err := tier.setKey(key, nil, e.deadline); err != nil {
				t.Fatal(err)
			}
			model[string(key)] = e
		case 3:
			if rng.IntN(4) == 0 {
				tier.deleteKey(key)
				delete(model, string(key))
			}
		case 4:
			now = clock.Add(rng.Int64N(200))
			tier.Sweep()
		}
		e, ok := model[string(key)]
		live := ok && (e.deadline == 0 || e.deadline > now)
		ok = live || ok && (e.deadline > 0 && e.deadline+grace > now || e.deadline < 0 && -e.deadline > now)
		v, deadline, found := tier.peekStaleKey([]byte("> "), key)
		if found != ok || ok && (deadline != e.deadline || string(v) != "> "+e.value) {
			t.Fatalf("step %d: PeekStale(%s): %q, %d, %v at %d: want %q, %d, %v", i, key, v, deadline, found, now, e.value, e.deadline, ok)
		}
		if v, got := tier.Get(nil, key); got != live || live && string(v) != e.value {
			t.Fatalf("step %d: Get(%s): %q, %v: want %v", i, key, v, got, live)
		}
		if v, deadline, got := tier.GetWithDeadline(nil, key); got != live || live && (string(v) != e.value || deadline != e.deadline) {
			t.Fatalf("step %d: GetWithDeadline(%s): %q, %d, %v: want %v", i, key, v, deadline, got, live)
		}
		if deadline, got := tier.deadlineOf(key); got != live || live && deadline != e.deadline {
			t.Fatalf("step %d: Deadline(%s): %d, %v: want %v", i, key, deadline, got, live)
		}
		if i%1000 == 0 {
			if err := tier.Check(); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			for key, value := range tier.All {
				if e := model[string(key)]; string(value) != e.value || e.deadline < 0 || e.deadline != 0 && e.deadline <= now {
					t.Fatalf("step %d: All yields %s", i, key)
				}
			}
		}
	}
	if n := tier.Stats().Evicted; n != 0 {
		t.Fatalf("%d evicted: the model knows of none", n)
	}
	clock.Add(1 << 40)
	tier.Sweep()
	for key, e := range model {
		if _, _, ok := tier.peekStaleKey(nil, []byte(key)); ok != (e.deadline == 0) {
			t.Errorf("%s with deadline %d: %v in the end", key, e.deadline, ok)
		}
	}
	for _, cause := range []evicted.Cause{evicted.Expired, evicted.Replaced, evicted.Deleted} {
		if told[cause].Load() == 0 {
			t.Errorf("never told of cause %d", cause)
		}
	}
}
