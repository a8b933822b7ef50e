package ram

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// A load from before Clear does not store where Clear has been, though Clear is not
// over.
func TestWatchDuringClear(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	var tier *Tier
	var w watch.Watch
	var left evicted.List
	told := false
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, OnEvict: func(k, _ []byte, _ evicted.Cause) {
		told = true
		if err := tier.SetIf(&w, []byte("loaded"), 0, &left); err != watch.ErrChanged {
			t.Errorf("%v, want %v", err, watch.ErrChanged)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	if err := tier.setKey(key, []byte("old"), 0); err != nil {
		t.Fatal(err)
	}
	tier.watchKey(&w, key)
	defer tier.Unwatch(&w)
	tier.Clear()
	if n := tier.Len(); !told || n != 0 {
		t.Errorf("told: %v; %d records are there", told, n)
	}
}

// A step of Clear ends the watches of what it has passed, and no others: a load of a key that
// still has its record, or has one again, replaces that.
func TestWatchesAheadOfClear(t *testing.T) {
	oneGoroutine(t)
	tier := newFilled(t, 64<<10, ignore)
	is := func(key string) bool {
		_, ok := tier.peekKey(nil, []byte(key))
		return ok
	}
	watches := map[string]*watch.Watch{}
	begin := func(key string) {
		watches[key] = new(watch.Watch)
		tier.watchKey(watches[key], []byte(key))
	}
	for i := 0; len(watches) < tier.Len(); i++ {
		if key := fmt.Sprintf("%08d", i); is(key) {
			begin(key)
		}
	}
	var check func()
	again, ahead := "", 0 // a key that is set behind the walk; those that the last step has not passed
	check = func() {
		tier.between, ahead = nil, 0
		for key, w := range watches {
			there := is(key)
			if w.Voided() == there {
				t.Fatalf("%s is there: %v, and its watch has ended: %v", key, there, !there)
			}
			if there && key != again {
				ahead++
			}
			if !there && again == "" {
				again = key
				if err := tier.setKey([]byte(key), []byte("new"), 0); err != nil {
					t.Fatal(err)
				}
				begin(key)
			}
		}
		tier.between = check
	}
	check()
	if again != "" || ahead != len(watches) {
		t.Fatal("there is nothing to clear")
	}
	tier.Clear()
	if again == "" || ahead != 0 || tier.Len() != 1 {
		t.Errorf("%d of %d keys are left, of which %d were not passed", tier.Len(), len(watches), ahead)
	}
}

// A watch ends before its record is gone: whoever does not find that joins no load from before.
func TestWatchEndsBeforeRecord(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for name, remove := range map[string]func(tier *Tier){
		"Delete": func(tier *Tier) { tier.deleteKey(key) },
		"DeleteIf": func(tier *Tier) {
			var own watch.Watch
			var left evicted.List
			tier.watchKey(&own, key)
			if err := tier.DeleteIf(&own, &left); err != nil {
				t.Error(err)
			}
		},
		"Clear": func(tier *Tier) { tier.Clear() },
	} {
		var w watch.Watch
		asked := false
		tier, err := New(Config{
			Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, OnEvict: func(_, _ []byte, _ evicted.Cause) {},
			Wants: func(_ []byte, _ evicted.Cause) bool { // the record is there
				if asked = true; !w.Voided() {
					t.Errorf("%s: a record is about to go, and a watch of its key goes on", name)
				}
				return false
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer tier.Free()
		if err := tier.setKey(key, []byte("old"), 0); err != nil {
			t.Fatal(err)
		}
		tier.watchKey(&w, key)
		if remove(tier); !asked {
			t.Errorf("%s: no record was removed", name)
		}
	}
}
