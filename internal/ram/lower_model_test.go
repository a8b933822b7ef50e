package ram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// twoTiers is a Tier with a lower one, as the model's machine calls it: it must
// behave like one cache that loses only what it says it loses. It looks into
// both sides of the seam at every call across it.
type twoTiers struct {
	modelStore
	m        *cachetest.Machine
	low      *lower
	rng      *rand.Rand
	reads    []lowRecord // read in the lower tier, and not promoted yet
	reserved int64

	value       []byte // of the write under way; nil: a Delete
	invalidates uint64 // that were seen
	writes      uint64 // that were successful
	touches     uint64
	sets        uint64
	promoted    uint64
	olderStayed uint64         // copies of touched records, in their place
	offered     map[string]int // by DemoteAll
}

func newTwoTiers(t interface{ Fatal(...any) }, size int64, mask uint64, keys [][]byte, seed uint64) *twoTiers {
	clock := &cachetest.Clock{}
	h := &twoTiers{low: newLower(), rng: rand.New(rand.NewPCG(seed, 3))}
	h.m = &cachetest.Machine{Store: h, Clock: clock, Bytes: size, Keys: keys}
	tier, err := New(Config{
		Bytes: size, MaxBytes: 4 * size, Seed: 1, Now: clock.Millis, HashMask: mask, Lower: h.low,
		OnEvict: func(key, value []byte, cause evicted.Cause) { h.m.Evicted(key, value, cachetest.Cause(cause)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	tier.overlapFrom = overlaps[seed%2]
	h.modelStore = modelStore{tier, clock}
	h.low.strict = true
	h.low.admit = func() bool { return h.rng.IntN(5) > 0 }
	h.low.invalidate, h.low.seen, h.low.lost, h.low.stays = h.invalidated, h.demoted, h.lost, h.stays
	return h
}

// expired reports whether a record of the lower tier is past its deadline.
func (h *twoTiers) expired(r *lowRecord) bool {
	return r.deadline != 0 && r.deadline <= h.clock.Millis()
}

// lost tells the machine of a record that only the lower tier had.
func (h *twoTiers) lost(_ uint64, r *lowRecord, own bool) {
	cause := cachetest.Capacity
	switch {
	case h.expired(r):
		cause = cachetest.Expired
	case own:
		cause = cachetest.Replaced
	}
	h.m.Evicted(r.key, r.value, cause)
}

// stays decides whether a touched record's older copy stays, as if the record was refused,
// and tells the machine which deadline holds then.
func (h *twoTiers) stays(r *lowRecord) bool {
	if h.rng.IntN(3) > 0 {
		return false
	}
	h.olderStayed++
	if !h.low.keeping {
		h.low.accepted++
		ttl := cachetest.Forever
		if r.deadline != 0 {
			ttl = time.Duration(r.deadline-h.clock.Millis()) * time.Millisecond
		}
		h.m.Shortened(r.key, r.value, ttl)
	}
	return true
}

// invalidated sees that the write has taken effect by now.
func (h *twoTiers) invalidated(hash uint64) {
	if h.low.keeping { // Mirror ends a copy that expires too early
		return
	}
	h.invalidates++
	if want := h.Hash(h.low.writing); hash != want {
		h.low.fail("hash %#x was invalidated, and %#x is written", hash, want)
	}
	v, _, out := h.get(h.shardOf(hash), nil, h.low.writing, hash, forValue)
	if out == hit != (h.value != nil) || !bytes.Equal(v, h.value) {
		h.low.fail("key %.20x was invalidated before its write took effect", h.low.writing)
	}
}

// demoted sees that the record can still be found in RAM.
func (h *twoTiers) demoted(hash uint64, key []byte, _ bool) {
	if _, _, out := h.get(h.shardOf(hash), nil, key, hash, forValue); out != hit {
		h.low.fail("key %.20x went before it was demoted", key)
	}
	if h.offered != nil {
		h.offered[string(key)]++
	}
}

// write runs one write of a key; a nil value says that it is a Delete.
func (h *twoTiers) write(key, value []byte, write func() error) error {
	h.low.writing, h.value = image(key), value
	err := write()
	h.low.writing = nil
	if err == nil || value == nil {
		h.writes++
		if _, ok := h.low.get(h.Hash(key), key); ok {
			h.low.fail("key %.20x was written, and the lower tier has an older record", key)
		}
		if value != nil {
			h.sets++
		}
	}
	return err
}

// image is a copy that is not nil.
func image(b []byte) []byte { return append([]byte{}, b...) }

func (h *twoTiers) Set(key, value []byte, ttl time.Duration) error {
	deadline, want := h.deadlineIn(ttl), image(value)
	if int64(len(key)+len(value)) > h.MaxRecord() {
		want = nil // it is a Delete
	}
	return h.write(key, want, func() error {
		if want == nil || h.rng.IntN(3) > 0 {
			return h.Tier.setKey(key, value, deadline)
		}
		var left evicted.List
		defer left.Notify()
		var watch watch.Watch
		h.watchKey(&watch, key)
		defer h.Unwatch(&watch)
		return h.SetIf(&watch, value, deadline, &left) // that making room moves or evicts the record is no write
	})
}

func (h *twoTiers) SetMulti(keys, values [][]byte) (first error) {
	for i := range keys { // one by one: the lower tier is told of each write
		err := h.write(keys[i], image(values[i]), func() error { return h.modelStore.SetMulti(keys[i:i+1], values[i:i+1]) })
		if first == nil {
			first = err
		}
	}
	return first
}

func (h *twoTiers) Delete(key []byte) error {
	return h.write(key, nil, func() error { return h.modelStore.Delete(key) })
}

// Touch promotes what only the lower tier has, as a cache of both does, or does nothing.
// Then a copy that is left expires no later.
func (h *twoTiers) Touch(key []byte, ttl time.Duration) (bool, error) {
	hash, deadline := h.Hash(key), h.deadlineIn(ttl)
	value, _, out := h.get(h.shardOf(hash), nil, key, hash, forValue)
	if out != hit {
		r, ok := h.readLower(hash, key)
		if !ok {
			return false, nil
		}
		if h.promote(r); h.low.held[hash] == nil || !h.low.held[hash].inRAM {
			return false, cachetest.ErrSkipped
		}
		value = r.value
	}
	h.low.writing, h.value = image(key), image(value)
	ok, err := h.Tier.Touch(hash, key, deadline)
	h.low.writing = nil
	if !ok && err == nil {
		if _, below := h.low.get(hash, key); below {
			return false, cachetest.ErrSkipped // it went down, for its own room
		}
	}
	h.touches++
	if r, below := h.low.get(hash, key); ok && below && expiresSooner(deadline, r.deadline) {
		h.low.fail("key %.20x expires at %d, and the lower tier has it until %d", key, deadline, r.deadline)
	}
	return ok, err
}

// readLower is a read of the lower tier, after a miss in RAM. It is promoted later:
// what leaves for that would leave in the middle of a call of the machine's.
func (h *twoTiers) readLower(hash uint64, key []byte) (r lowRecord, ok bool) {
	r, ok = h.low.get(hash, key)
	if !ok || h.expired(&r) {
		return r, false
	}
	if r.inRAM {
		h.low.fail("key %.20x is gone in RAM", key)
	}
	h.reads = append(h.reads, r)
	return r, true
}

// promote stores what was read in the lower tier.
func (h *twoTiers) promote(r lowRecord) {
	hash := h.Hash(r.key)
	_, inRAM := h.deadlineOf(r.key)
	fits := int64(len(r.key)+len(r.value)) <= h.MaxRecord()
	stored := h.Promote(hash, r.key, r.value, r.deadline, r.token)
	now, held := h.low.get(hash, r.key)
	held = held && now.token == r.token
	if want := !inRAM && fits && held && !h.expired(&r); stored != want {
		h.low.fail("promoting key %.20x: %v, want %v; in RAM %v, fits %v, held %v", r.key, stored, want, inRAM, fits, held)
	}
	if stored {
		h.promoted++
		h.low.held[hash].inRAM = true
	}
}

func (h *twoTiers) Get(dst, key []byte) ([]byte, bool) {
	hash := h.Hash(key)
	if v, ok := h.Tier.Get(dst, key); ok {
		return v, true
	}
	if r, ok := h.readLower(hash, key); ok {
		return append(dst, r.value...), true
	}
	return dst, false
}

func (h *twoTiers) GetMulti(keys [][]byte) (values [][]byte, ok []bool) {
	var b Batch
	h.Tier.GetMulti(&b, keys)
	for i, key := range keys {
		v, found := b.Value(i)
		if !found {
			var r lowRecord
			r, found = h.readLower(b.Hashes[i], key)
			v = r.value
		}
		values, ok = append(values, v), append(ok, found)
	}
	return values, ok
}

func (h *twoTiers) deadline(key []byte) (int64, bool) {
	if d, ok := h.deadlineOf(key); ok {
		return d, true
	}
	r, ok := h.low.get(h.Hash(key), key)
	return r.deadline, ok && !h.expired(&r)
}

func (h *twoTiers) Has(key []byte) bool {
	_, ok := h.deadline(key)
	return ok
}

func (h *twoTiers) TTL(key []byte) (time.Duration, bool) {
	d, ok := h.deadline(key)
	switch {
	case !ok:
		return 0, false
	case d == 0:
		return cachetest.Forever, true
	}
	return time.Duration(d-h.clock.Millis()) * time.Millisecond, true
}

func (h *twoTiers) All(yield func(key, value []byte) bool) {
	h.Tier.All(yield)
	for _, r := range h.low.held {
		if !r.inRAM && !h.expired(r) && !yield(r.key, r.value) {
			return
		}
	}
}

func (h *twoTiers) Len() int {
	n := h.Tier.Len()
	for _, r := range h.low.held {
		if !r.inRAM {
			n++
		}
	}
	return n
}

func (h *twoTiers) Clear() error {
	for hash, r := range h.low.held {
		delete(h.low.held, hash)
		if !r.inRAM {
			h.m.Evicted(r.key, r.value, cachetest.Deleted)
		}
	}
	return h.modelStore.Clear()
}

// SetBytes leaves the upper tier half of the budget, so that a quarter is
// always as much as a record may have.
func (h *twoTiers) SetBytes(n int64) error {
	if most := n / 2; h.reserved > most {
		h.reserve(most)
	}
	return h.modelStore.SetBytes(n)
}

func (h *twoTiers) reserve(reserved int64) {
	if err := h.Reserve(reserved - h.reserved); err != nil {
		if left := h.bytes.Load() - reserved; left >= h.minOwn() {
			h.low.fail("%v, though %d bytes are left", err, left)
		}
		return
	}
	h.reserved = reserved
}

func (h *twoTiers) Check() error {
	st := h.Stats()
	switch {
	case h.low.err != nil:
		return h.low.err
	case h.invalidates > h.writes+h.touches:
		return fmt.Errorf("%d times invalidated, of %d writes and touches", h.invalidates, h.writes+h.touches)
	case st.Sets() != h.sets || st.Promoted != h.promoted || st.Demoted != h.low.accepted:
		return fmt.Errorf("counted %d sets, %d promoted, %d demoted: want %d, %d, %d", st.Sets(), st.Promoted, st.Demoted, h.sets, h.promoted, h.low.accepted)
	case st.Used > st.Budget || st.ReservedBytes != h.reserved:
		return fmt.Errorf("%d bytes used, %d of them reserved: want at most %d, and %d", st.Used, st.ReservedBytes, st.Budget, h.reserved)
	}
	return h.Tier.Check()
}

// disturb does what the machine does not know of.
func (h *twoTiers) disturb() {
	switch h.rng.IntN(9) {
	case 0, 1, 2: // promote some of what was read, just now or a while ago
		for _, r := range h.reads {
			if h.rng.IntN(2) == 0 {
				h.promote(r)
			}
		}
		h.reads = h.reads[:min(len(h.reads), 50)]
	case 3: // the lower tier runs out of room
		for hash := range h.low.held {
			if h.rng.IntN(8) == 0 {
				h.low.drop(hash)
			}
		}
	case 4:
		h.reserve(h.rng.Int64N(h.bytes.Load()/2 + 1))
	case 5:
		h.demoteAll()
	case 6:
		h.low.keeping = true
		h.Mirror(h.rng.Uint64N(3), always)
		h.low.keeping = false
	}
}

// demoteAll sees that every live record is offered, once.
func (h *twoTiers) demoteAll() {
	h.low.keeping, h.offered = true, map[string]int{}
	h.DemoteAll(3, always, new(evicted.List))
	h.low.keeping = false
	h.Tier.All(func(key, _ []byte) bool {
		if n := h.offered[string(key)]; n != 1 {
			h.low.fail("DemoteAll offers key %.20x %d times", key, n)
		}
		delete(h.offered, string(key))
		return true
	})
	if len(h.offered) > 0 {
		h.low.fail("DemoteAll offers %d records that are not there", len(h.offered))
	}
	h.offered = nil
}

// Two tiers with the seam between them are one cache, whatever collides.
func TestLowerModel(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	var sum Counters
	var stayed uint64
	for name, mask := range masks {
		for _, size := range modelSizes(mask) {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				h := newTwoTiers(t, size, mask, cachetest.Keys(120, int(size/20)), uint64(size)^mask)
				defer h.Free()
				src := cachetest.Random{Rand: rand.New(rand.NewPCG(uint64(size), mask))}
				for i := range modelSteps(size) {
					if err := h.m.Step(src); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
					h.disturb()
				}
				if err := h.m.Finish(); err != nil {
					t.Fatal(err)
				}
				st := h.Stats()
				sum.add(&st.Counters)
				stayed += h.olderStayed
			})
		}
	}
	t.Logf("%+v", sum)
	if sum.Demoted == 0 || sum.Promoted == 0 || sum.Evicted == 0 || stayed == 0 {
		t.Errorf("want some demoted, some promoted and some evicted, and older copies that stay: %+v, %d", sum, stayed)
	}
}
