package ram

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// sieve is a lower tier that refuses one record in four.
type sieve struct{ costly }

func (sieve) Demote(hash uint64, _, _ []byte, _ int64, _ bool, _ record.Copy) bool { return hash%4 > 0 }

// toil makes random calls of a tier, and adds up what is done in each hold of a lock.
type toil struct {
	*Tier
	t       *testing.T
	rng     *rand.Rand
	now     int64
	longest int // value, in bytes
	copies  int // of a record, that are made in a hold at most: for each purpose one, and one of its pieces
	most    work
}

func newToil(t *testing.T, longest int, over, told bool) *toil {
	l := &toil{t: t, rng: rand.New(rand.NewPCG(uint64(longest), 1)), now: 1000, longest: longest, copies: 2}
	cfg := Config{Bytes: 2 << 30, Seed: 1, Now: func() int64 { return l.now }} // long segments
	if longest < 1000 || invariants.Race {                                     // many
		cfg.Bytes, cfg.MaxBytes = 2<<20, 16<<20
	}
	if over {
		cfg.Lower = sieve{}
		l.copies += 2
	}
	if told {
		cfg.OnEvict = func([]byte, []byte, evicted.Cause) {}
		l.copies += 2
	}
	tier, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	l.Tier = tier
	l.resize() // the segments stay as long as those of a large tier
	tier.unlocking = l.unlocked
	return l
}

// unlocked looks at what was done in a hold. Beyond a step's work there may be one record
// more, the removal of which may shrink the index and give segments back.
func (l *toil) unlocked(w work) {
	records := stepsMerges*stepRecords + 40 + l.longest>>l.segShift
	bytes := stepBytes + l.copies*(l.longest+64)
	if (w.records > records || w.bytes > bytes) && !l.t.Failed() {
		l.t.Errorf("%d records and %d bytes in one hold of a lock: want at most %d and %d\n%s", w.records, w.bytes, records, bytes, debug.Stack())
	}
	l.most.records, l.most.bytes = max(l.most.records, w.records), max(l.most.bytes, w.bytes)
}

func (l *toil) resize() {
	least, most := l.Bounds()
	if err := l.SetBytes(least + l.rng.Int64N(min(most, 2*least+8<<20)-least)); err != nil {
		l.t.Fatal(err)
	}
}

// set stores a record under one of so many keys.
func (l *toil) set(keys uint64) {
	key := binary.LittleEndian.AppendUint64(nil, l.rng.Uint64N(keys))
	n, deadline := l.longest, int64(0)
	if l.rng.IntN(2) > 0 {
		n = l.rng.IntN(l.longest)
	}
	if l.rng.IntN(2) > 0 {
		deadline = l.now + l.rng.Int64N(20_000)
	}
	if err := l.setKey(key, make([]byte, n), deadline); err != nil {
		l.t.Fatal(err)
	}
	switch l.rng.IntN(10) {
	case 0:
		l.deleteKey(key)
	case 1:
		l.Get(nil, key)
	}
}

// Whatever is called, a shard's lock is held for no more than a step's work.
func TestLocksAreHeldForAStep(t *testing.T) {
	t.Parallel()
	for _, longest := range []int{40, 12_000, 60_000} {
		for _, over := range []bool{false, true} {
			for _, told := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d bytes, lower %v, OnEvict %v", longest, over, told), func(t *testing.T) {
					t.Parallel()
					newToil(t, longest, over, told).run()
				})
			}
		}
	}
}

func (l *toil) run() {
	sets := min(200<<20/(l.longest+40), 120_000)
	if invariants.Race { // where bytes move by atomic words
		sets = min(sets/20, 4<<20/(l.longest+40))
	}
	for name, do := range map[string]func(){
		"Sweep":     func() { l.now += 10_000; l.Sweep() },
		"DemoteAll": func() { l.DemoteAll(0, always, new(evicted.List)) },
		"All": func() {
			for range l.All {
			}
		},
		"SetBytes": l.resize,
		"Reserve": func() {
			if err := l.Reserve(min(1<<20, l.bytes.Load()-l.minOwn())); err != nil {
				l.t.Fatal(err)
			}
		},
		"Clear": func() { l.Clear() },
		"Stats": func() { l.Stats() },
	} {
		for range sets / 8 {
			l.set(uint64(sets))
		}
		do()
		if err := l.Check(); err != nil {
			l.t.Fatalf("after %s: %v", name, err)
		}
	}
	if !invariants.Race && (l.most.records < stepRecords && l.longest < 1000 || l.most.bytes < stepBytes && l.longest > stepBytes) {
		l.t.Errorf("no more than %v was done in any hold: nothing was tested", l.most)
	}
	l.Close()
}

// Steps leave the rest for later, not out: whatever others do between them, Sweep and Clear
// take out all that was there when they began.
func TestStepsLeaveNothingOut(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(d *drained){
		"Sweep": func(d *drained) { d.now = 9000; d.Sweep() },
		"Clear": func(d *drained) { d.Clear() },
		"Clear at once": func(d *drained) {
			d.NotifyOf(0)
			d.Clear()
		},
	} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				d := newDrained(t, 256<<10, 5000)
				rng, steps := rand.New(rand.NewPCG(seed, 1)), 0
				var between func()
				between = func() {
					d.between, steps = nil, steps+1
					key := fmt.Appendf(nil, "other-%d", rng.IntN(100))
					if rng.IntN(3) == 0 {
						d.deleteKey(key)
					} else if err := d.setKey(key, make([]byte, rng.IntN(300)), 0); err != nil {
						t.Error(err)
					}
					d.between = between
				}
				d.between = between
				run(d)
				d.between = nil
				for key, value := range d.All {
					if value := string(value); value == "value" {
						t.Fatalf("key %s is there still", key)
					}
				}
				if steps < 10 {
					t.Errorf("%d steps: want some", steps)
				}
				if err := d.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// While Clear gives memory back, what is stored stays: a write that lacks room takes what
// is dead, and a sweep leaves that alone.
func TestWhileClearGivesBack(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 256<<10, 5000)
	for i := range d.n {
		if i%4 > 0 { // segments are worth cleaning
			d.delete(fmt.Sprintf("%06d", i))
		}
	}
	s := &d.shards[0]
	s.mu.Lock()
	s.clear()
	s.mu.Unlock()
	d.now, d.until = 9000, 0
	d.unlocking = func(w work) {
		if w.records > 0 {
			t.Errorf("%d records of dead segments were looked at", w.records)
		}
	}
	d.Sweep()
	d.unlocking = nil
	clear(d.values)
	d.add()
	for left := s.held.Load(); s.dead.Head != 0; left-- {
		if n := s.held.Load(); n != left || n < 2 {
			t.Fatalf("%d segments are held: want %d", n, left)
		}
		var ev evicted.List
		if freed, _ := s.reclaim(&ev, always); !freed {
			t.Fatal("nothing was freed")
		}
		ev.Notify()
		if _, ok := d.peekKey(nil, fmt.Appendf(nil, "%06d", d.n)); !ok {
			t.Fatal("a record had to go though others are dead")
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.held.Load(); n != 1 {
		t.Errorf("%d segments are held: want 1", n)
	}
}

// between runs f between the first two steps of a call.
func (d *drained) betweenSteps(call, f func()) {
	d.t.Helper()
	ran := false
	d.between = func() {
		if d.between = nil; !ran {
			ran = true
			f()
		}
	}
	call()
	d.between = nil
	if !ran {
		d.t.Fatal("the call takes one step")
	}
	if err := d.Check(); err != nil {
		d.t.Error(err)
	}
}

// A walk ends when its segment is released: its memory may be the index's next.
func TestWalkEndsWithItsSegment(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	s := &d.shards[0]
	var w, other walk
	for _, w := range []*walk{&other, &w} {
		s.beginWalk(w, s.queues[policy.Main].Head)
		defer s.endWalk(w)
	}
	s.walkStep(&w, func(*entry) {})
	for key := range d.values {
		d.delete(key)
	}
	if w.id != 0 || other.id != 0 {
		t.Errorf("walks go on in segments %d and %d", w.id, other.id)
	}
}

// A deadline that is stored in a segment between the steps of its sweep is kept in mind.
func TestDeadlineBetweenStepsOfSweep(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	d.Clear()
	for i := range 8 {
		d.set(fmt.Sprintf("%06d", i), "value", []int64{1500, 5000}[min(i, 1)])
	}
	d.now = 3000
	d.betweenSteps(d.Sweep, func() { d.set("000001", "VALUE", 4000) })
}
