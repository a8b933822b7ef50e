package ram

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
)

// clean drains a segment with the shard locked throughout.
func (s *shard) clean(id uint32) {
	for s.beginDrain(id, true); s.drain.id != 0; {
		s.drainStep()
	}
}

// eachLive calls fn for every live record of which some byte lies in the segment.
func (s *shard) eachLive(id uint32, fn func(*entry)) {
	for w := (walk{id: id}); s.walkStep(&w, fn); {
	}
}

// drained is a full tier of one shard above one that keeps everything. Its drains
// take steps of a few records.
type drained struct {
	*Tier
	t      *testing.T
	low    *lower
	now    int64
	n      int               // how many keys there were
	until  int64             // deadline of those that add stores
	values map[string]string // of each key that is in either tier
	told   map[string]int    // of how many records of a key OnEvict was told
}

func newDrained(t *testing.T, size, until int64) *drained {
	d := &drained{t: t, low: newLower(), now: 1000, until: until, values: map[string]string{}, told: map[string]int{}}
	tier, err := New(Config{Bytes: size, MaxBytes: 4 * size, Seed: 1, Now: func() int64 { return d.now }, Lower: d.low,
		OnEvict: func(key, _ []byte, _ evicted.Cause) { d.told[string(key)]++ }})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	tier.maxWalk, tier.freeAhead = 4, 0
	d.Tier = tier
	for tier.Stats().Demoted == 0 {
		d.add()
	}
	return d
}

// add stores a record under a new key.
func (d *drained) add() {
	d.n++
	d.set(fmt.Sprintf("%06d", d.n), "value", d.until)
}

func (d *drained) set(key, value string, deadline int64) {
	if err := d.setKey([]byte(key), []byte(value), deadline); err != nil {
		d.t.Fatalf("Set(%q): %v", key, err)
	}
	d.values[key] = value
}

func (d *drained) delete(key string) {
	d.deleteKey([]byte(key))
	delete(d.values, key)
}

// ahead are the keys whose records are still to be drained.
func (d *drained) ahead() (keys []string) {
	s := &d.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drain.id != 0 {
		s.eachLive(s.drain.id, func(e *entry) { keys = append(keys, string(s.key(&e.rec))) })
	}
	return keys
}

// pause runs f between the first two steps of a drain that some Set needs.
func (d *drained) pause(f func()) {
	d.t.Helper()
	paused := false
	d.between = func() {
		if !paused {
			paused = true
			f()
			if err := d.Check(); err != nil {
				d.t.Errorf("between two steps: %v", err)
			}
		}
	}
	for range 10_000 {
		if d.add(); paused {
			break
		}
	}
	d.between = nil
	if !paused {
		d.t.Fatal("no drain takes two steps")
	}
	if d.now > 5000 { // it expired while it was being stored
		delete(d.values, fmt.Sprintf("%06d", d.n))
	}
}

// check compares every key with what was stored last.
func (d *drained) check() {
	d.t.Helper()
	if err := d.low.failure(); err != nil {
		d.t.Error(err)
	}
	if err := d.Check(); err != nil {
		d.t.Error(err)
	}
	for i := range d.n + 1 {
		key := fmt.Sprintf("%06d", i)
		want, held := d.values[key]
		v, ok := d.peekKey(nil, []byte(key))
		if !ok {
			var r lowRecord
			r, ok = d.low.get(d.Hash([]byte(key)), []byte(key))
			v = r.value
		}
		if ok != held || string(v) != want {
			d.t.Fatalf("key %s: %q %v, want %q %v", key, v, ok, want, held)
		}
	}
}

// Another write gets the shard's lock before the segment that a Set makes room with
// is drained.
func TestOthersWriteBetweenSteps(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	d.pause(func() {
		left := d.ahead()
		if len(left) == 0 {
			t.Fatal("the segment is drained already")
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.set(left[0], "VALUE", 0)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("the other Set waits for the drain")
		}
		if n := len(d.ahead()); n != len(left) {
			t.Errorf("%d records are to be drained, %d before the other Set", n, len(left))
		}
	})
	d.check()
}

// Whatever happens between two steps of a drain, nothing is lost and nothing comes
// back.
func TestBetweenSteps(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(d *drained){
		"nothing": func(*drained) {},
		"overwritten in place": func(d *drained) {
			for _, key := range d.ahead() {
				d.set(key, "VALUE", 6000)
			}
		},
		"replaced": func(d *drained) {
			for _, key := range d.ahead()[1:] {
				d.set(key, "longer than before", 0)
			}
		},
		"deleted": func(d *drained) { d.delete(d.ahead()[0]) },
		"all deleted": func(d *drained) {
			s := &d.shards[0]
			id, held := s.drain.id, s.held.Load()
			for _, key := range d.ahead() {
				d.delete(key)
			}
			if s.drain.id == id || s.held.Load() != held-1 {
				d.t.Error("the segment was not released with its last record")
			}
		},
		"expired and swept": func(d *drained) {
			d.now = 9000
			d.Sweep()
			for key := range d.values {
				d.low.Invalidate(d.Hash([]byte(key)))
				delete(d.values, key)
			}
			if n := len(d.ahead()); n > 0 {
				d.t.Errorf("%d records are to be drained", n)
			}
		},
		"expired": func(d *drained) {
			for key := range d.values {
				d.low.Invalidate(d.Hash([]byte(key)))
				delete(d.values, key)
			}
			d.now = 9000
		},
		"cleared": func(d *drained) {
			for key := range d.values {
				d.low.Invalidate(d.Hash([]byte(key)))
				delete(d.values, key)
			}
			if d.Clear(); d.shards[0].drain.id != 0 || d.shards[0].held.Load() != 0 {
				d.t.Error("a segment outlived Clear")
			}
		},
		"cleared at once": func(d *drained) {
			for key := range d.values {
				d.low.Invalidate(d.Hash([]byte(key)))
				delete(d.values, key)
			}
			d.NotifyOf(0)
			if d.Clear(); d.shards[0].drain.id != 0 || d.shards[0].held.Load() != 0 {
				d.t.Error("a segment outlived Clear")
			}
		},
		"the drain taken over": func(d *drained) {
			for id := d.shards[0].drain.id; d.shards[0].drain.id == id; {
				d.add()
			}
		},
		"another drain under way": func(d *drained) {
			s := &d.shards[0]
			var left evicted.List
			if freed, _ := s.reclaim(&left, always); !freed {
				d.t.Error("there is nothing to reclaim")
			}
			s.mu.Lock()
			s.reclaimStep()
			s.unlock(&left)
			left.Notify()
			if s.drain.id == 0 {
				d.t.Error("there is no other drain")
			}
		},
		"shrunk": func(d *drained) {
			if err := d.SetBytes(d.minBytes()); err != nil {
				d.t.Error(err)
			}
		},
		"reserved": func(d *drained) {
			if err := errors.Join(d.SetBytes(2*d.bytes.Load()), d.Reserve(d.bytes.Load()/2)); err != nil {
				d.t.Error(err)
			}
		},
		"grown": func(d *drained) {
			if err := d.SetBytes(2 * d.bytes.Load()); err != nil {
				d.t.Error(err)
			}
		},
		"iterated": func(d *drained) {
			met := map[string]int{}
			for key := range d.All {
				met[string(key)]++
			}
			for _, key := range d.ahead() {
				if met[key] != 1 {
					d.t.Errorf("key %s was met %d times", key, met[key])
				}
			}
			if len(met) != d.Len() {
				d.t.Errorf("%d of %d records were met", len(met), d.Len())
			}
		},
		"all demoted": func(d *drained) {
			offered := map[string]int{}
			d.low.seen = func(_ uint64, key []byte, _ bool) { offered[string(key)]++ }
			d.low.keeping = true
			d.DemoteAll(0, always, new(evicted.List))
			d.low.seen, d.low.keeping = nil, false
			for _, key := range d.ahead() {
				if offered[key] != 1 {
					d.t.Errorf("key %s was offered %d times", key, offered[key])
				}
			}
			if len(offered) != d.Len() {
				d.t.Errorf("%d of %d records were offered", len(offered), d.Len())
			}
		},
		"promoted": func(d *drained) {
			for _, busy := range []bool{true, false} {
				d.low.busy.Store(busy)
				for hash, r := range d.low.held {
					d.Promote(hash, r.key, r.value, r.deadline, r.token)
				}
			}
		},
		"a large record": func(d *drained) { d.set("000000", string(make([]byte, d.MaxRecord()-6)), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDrained(t, 64<<10, 5000)
			ends(t, "Set", func() {
				d.pause(func() { run(d) })
				d.until = 0
				for range 100 {
					d.add()
				}
			})
			d.check()
			if d.low.accepted != d.Stats().Demoted {
				t.Errorf("%d records were demoted, %d taken", d.Stats().Demoted, d.low.accepted)
			}
			for key, n := range d.told {
				if d.values[key] == "value" && n > 0 {
					t.Errorf("Evicted is told %d times of key %s, which is there", n, key)
				}
			}
		})
	}
}
