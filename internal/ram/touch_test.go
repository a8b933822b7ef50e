package ram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/watch"
)

// A deadline moves, comes and goes, of records of every shape: in place, or with the
// record. Nobody hears of it, and nothing else changes.
func TestTouch(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	const now = 1000
	for _, size := range []int{0, 20, 9000, 1 << 20} {
		for _, was := range []int64{0, now + 10, now + 1000} {
			for _, to := range []int64{0, now + 1, now + 10, now + 5000} {
				name := fmt.Sprintf("%d bytes, %d to %d", size, was, to)
				events := 0
				tier := newUnsampled(t, Config{Bytes: 8 << 20, Seed: 1, Now: func() int64 { return now },
					OnEvict: func(_, _ []byte, _ evicted.Cause) { events++ }})
				key, value := []byte("key"), bytes.Repeat([]byte("v"), size)
				if err := tier.setKey(key, value, was); err != nil {
					t.Fatal(err)
				}
				var watch watch.Watch
				tier.watchKey(&watch, key)
				before := tier.Stats()
				ok, err := tier.Touch(tier.Hash(key), key, to)
				if !ok || err != nil {
					t.Errorf("%s: %v, %v", name, ok, err)
				}
				after := tier.Stats()
				if v, d, ok := tier.Peek(tier.Hash(key), nil, key); !ok || d != to || !bytes.Equal(v, value) {
					t.Errorf("%s: %d bytes until %d, %v", name, len(v), d, ok)
				}
				if events != 0 || watch.Voided() || before.Counters != after.Counters || before.Hits != after.Hits {
					t.Errorf("%s: %d events, a write seen: %v; %+v, before %+v", name, events, watch.Voided(), after.Counters, before.Counters)
				}
				tier.Unwatch(&watch)
				if err := tier.Check(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// There is nothing to touch where a read finds nothing.
func TestTouchNothing(t *testing.T) {
	t.Parallel()
	now := int64(1000)
	tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Grace: 1000, Now: func() int64 { return now }})
	for key, deadline := range map[string]int64{"expired": 1500, "negative": -3000} {
		if err := tier.setKey([]byte(key), nil, deadline); err != nil {
			t.Fatal(err)
		}
	}
	now = 1500
	for _, key := range []string{"expired", "negative", "absent"} {
		if ok, err := tier.Touch(tier.Hash([]byte(key)), []byte(key), 5000); ok || err != nil {
			t.Errorf("%s: %v, %v", key, ok, err)
		}
		if _, ok := tier.deadlineOf([]byte(key)); ok {
			t.Errorf("%s is there", key)
		}
	}
	tier.Close()
	if ok, err := tier.Touch(0, []byte("k"), 5000); ok || err != ErrClosed {
		t.Errorf("closed: %v, %v", ok, err)
	}
}

// A reader that has read a deadline, which passes while another is stored, finds the
// record: it was there all the time. The clock is asked in between.
func TestTouchDuringRead(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for name, read := range map[string]func(tier *Tier) bool{
		"Get":      func(tier *Tier) bool { _, ok := tier.Get(nil, key); return ok },
		"Deadline": func(tier *Tier) bool { _, ok := tier.deadlineOf(key); return ok },
		"GetMulti": func(tier *Tier) bool {
			var b Batch
			tier.overlapFrom = 0
			tier.GetMulti(&b, [][]byte{key})
			return b.Misses == 0
		},
	} {
		var during func()
		now := int64(1000)
		tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Now: func() int64 {
			if f := during; f != nil {
				during = nil
				f()
			}
			return now
		}})
		if err := tier.setKey(key, []byte("value"), 1500); err != nil {
			t.Fatal(err)
		}
		during = func() {
			if ok, err := tier.Touch(tier.Hash(key), key, 3000); !ok || err != nil {
				t.Error(name, ok, err)
			}
			now = 2000
		}
		if !read(tier) {
			t.Errorf("%s: not found, though it has not expired at any time", name)
		}
	}
}

// The lower tier's copy of a touched record: one that would live longer goes at once, one
// that expires earlier stays, and is replaced when the record goes down.
func TestTouchOverCopy(t *testing.T) {
	t.Parallel()
	const now, was = 1000, 5000
	for _, c := range []struct {
		to   int64
		want record.Copy
	}{{2000, record.NoCopy}, {9000, record.OlderCopy}, {0, record.OlderCopy}, {was, record.SameCopy}} {
		for _, parts := range []bool{false, true} {
			low := newLower()
			tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return now }, Lower: low})
			key, value := []byte("key"), make([]byte, 3000)
			if parts {
				newInParts(tier, low)
			}
			hash := tier.Hash(key)
			low.held[hash] = &lowRecord{key: key, value: value, deadline: was, token: 7}
			if !tier.Promote(hash, key, value, was, 7) {
				t.Fatal("not promoted")
			}
			if ok, err := tier.Touch(hash, key, c.to); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if _, below := low.get(hash, key); below != (c.want != record.NoCopy) {
				t.Errorf("to %d: a copy is below: %v, want %v", c.to, below, c.want != record.NoCopy)
			}
			low.copied = record.NoCopy
			tier.DemoteAll(0, always, new(evicted.List))
			r, _ := low.get(hash, key)
			if r.deadline != c.to || low.copied != c.want && !(parts && c.want == record.OlderCopy) { // the older one went when the parts began
				t.Errorf("to %d, in parts %v: below it expires at %d, and was said to be %d", c.to, parts, r.deadline, low.copied)
			}
			if low.err != nil {
				t.Error(low.err)
			}
			// A Set after a Touch invalidates as any does.
			if err := tier.setKey(key, []byte("new"), 0); err != nil {
				t.Fatal(err)
			}
			if _, below := low.get(hash, key); below {
				t.Errorf("to %d: what was set has an older copy below", c.to)
			}
		}
	}
}

// A record that goes down in parts, with the deadline that it had when that began, is
// touched: what arrives is not it.
func TestTouchBetweenParts(t *testing.T) {
	t.Parallel()
	const now, was = 1000, 5000
	for _, to := range []int64{2000, 9000, 0} {
		low := newLower()
		tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return now }, Lower: low})
		newInParts(tier, low)
		key := []byte("key")
		hash := tier.Hash(key)
		if err := tier.setKey(key, make([]byte, 5000), was); err != nil {
			t.Fatal(err)
		}
		touched := false
		tier.between = func() {
			if !touched {
				touched = true
				if ok, err := tier.Touch(hash, key, to); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		}
		there := tier.DemoteCopy(hash, key)
		tier.between = nil
		if !touched || there {
			t.Errorf("to %d: touched %v, demoted %v", to, touched, there)
		}
		if d, ok := tier.deadlineOf(key); d != to || !ok {
			t.Errorf("to %d: expires at %d, %v", to, d, ok)
		}
		if r, ok := low.get(hash, key); ok && r.deadline != to {
			t.Errorf("to %d: below it expires at %d", to, r.deadline)
		}
	}
}

// Sliding deadlines against the model: even ones move by reads, odd ones do not.
func TestSlidingModel(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	const life, slack = 1600, 100
	for _, size := range []int64{64 << 10, 1 << 20} {
		m := newMachineOf(t, Config{Slide: life}, size, 0, cachetest.Keys(150, int(size/20)))
		m.Slid = func(deadline time.Time) time.Time {
			left := deadline.Sub(m.Clock.Now()).Milliseconds()
			d := m.Clock.Millis() + left
			to := (m.Clock.Millis() + life + 1) / 2 * 2
			if d%2 != 0 || to-d <= slack+1 {
				return deadline
			}
			return deadline.Add(time.Duration(to-d) * time.Millisecond)
		}
		src := cachetest.Random{Rand: rand.New(rand.NewPCG(uint64(size), 8))}
		for i := range modelSteps(size) {
			if err := m.Step(src); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := m.Finish(); err != nil {
			t.Fatal(err)
		}
		freeMachine(m)
	}
}

// A GetMulti moves deadlines as Gets do, by both ways.
func TestSlideMulti(t *testing.T) {
	t.Parallel()
	for _, from := range overlaps {
		now := int64(1000)
		tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return now }, Ticking: true, Slide: 160_000})
		tier.overlapFrom = from
		key := []byte("the key.")
		if err := tier.setKey(key, []byte("value"), now+160_000); err != nil {
			t.Fatal(err)
		}
		now = 21_000
		tier.clock.coarse.Store(now + tier.slides.lead())
		var b Batch
		tier.GetMulti(&b, [][]byte{key, nil})
		if d, _ := tier.deadlineOf(key); d != 181_000 || b.Deadline(0) != d {
			t.Errorf("overlapped from %d bytes: expires at %d, and to the batch at %d, want 181000", from, d, b.Deadline(0))
		}
	}
}

// A deadline that slides costs nothing until it may move again: only then does a read ask
// for the time, and the record move.
func TestSlideWithinSlack(t *testing.T) {
	t.Parallel()
	now, asked := int64(1000), 0
	tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { asked++; return now }, Ticking: true, Slide: 160_000})
	key, buf := []byte("the key."), make([]byte, 0, 64)
	if err := tier.setKey(key, []byte("value"), now+160_000); err != nil {
		t.Fatal(err)
	}
	var b Batch
	for _, step := range []struct {
		at, want int64
		asks     bool
	}{{1000, 161_000, false}, {9_000, 161_000, false}, {11_000, 161_000, true}, {11_001, 171_002, true}, {12_000, 171_002, false}, {171_001, 331_002, true}} {
		now, asked = step.at, 0
		tier.clock.coarse.Store(now + tier.slides.lead())
		_, ok := tier.Get(buf, key)
		if asks := asked > 0; !ok || asks != step.asks {
			t.Errorf("at %d: found %v, asked for the time: %v", now, ok, asks)
		}
		tier.GetMulti(&b, [][]byte{key})
		if d, _ := tier.deadlineOf(key); d != step.want || b.Deadline(0) != step.want {
			t.Errorf("read at %d: expires at %d, and to a batch at %d, want %d", now, d, b.Deadline(0), step.want)
		}
	}
	now = 331_002
	tier.clock.coarse.Store(now + tier.slides.lead())
	if _, ok := tier.Get(buf, key); ok {
		t.Error("a read at the deadline finds it")
	}
}
