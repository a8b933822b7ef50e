package ram

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/quotas"
	"github.com/firncache/firn/internal/ram/segments"
)

// Check compares everything that the tier keeps twice, and returns the first
// thing that does not agree. It is for tests: no other goroutine may use the tier
// meanwhile, and it takes long. Of a closed tier it says nothing.
func (t *Tier) Check() error {
	if t.closed.Load() {
		return nil
	}
	for i := range t.shards { // all of them: records end by themselves, and what is counted in two places is compared
		t.shards[i].mu.Lock()
		defer t.shards[i].mu.Unlock()
	}
	held := 0
	for i := range t.shards {
		s := &t.shards[i]
		n, err := s.check()
		s.work = work{}
		if err != nil {
			return fmt.Errorf("shard %d: %w", s.number, err)
		}
		held += n
	}
	return errors.Join(t.pool.Check(held), t.quotas.Check())
}

// audit is a shard's records as its index lists them.
type audit struct {
	s      *shard
	live   map[uint32]uint32      // bytes by segment
	starts map[uint32]bool        // locations
	heads  map[uint32]uint32      // location of the record that continues into a segment
	lanes  [segments.Lanes]uint64 // bytes by lane
	keys   map[string]bool

	counted map[*quotas.Account][segments.Lanes]int64 // bytes
}

// check returns the number of segments that the shard holds.
func (s *shard) check() (held int, err error) {
	a := audit{s: s, live: map[uint32]uint32{}, starts: map[uint32]bool{}, heads: map[uint32]uint32{}, keys: map[string]bool{}, counted: map[*quotas.Account][segments.Lanes]int64{}}
	for at, next := uint64(0), uint64(1); next != 0; at = next {
		var found []index.Placed
		found, next = s.table.From(at)
		for _, p := range slices.Clone(found) {
			if err := a.entry(p.Location); err != nil {
				return 0, fmt.Errorf("index position %#x, location %#x: %w", p.Position, p.Location, err)
			}
		}
	}
	if n := s.table.Len(); n != len(a.starts) {
		return 0, fmt.Errorf("the index counts %d entries, and has %d", n, len(a.starts))
	}
	if err := a.accounts(); err != nil {
		return 0, err
	}
	c := &s.count
	came, gone := c.Inserted+c.Promoted, c.Deletes+c.Cleared+c.Evicted+c.Demoted+c.Expired+c.Obsolete+c.Invalidated+c.OverQuota
	if came != gone+uint64(len(a.starts)) {
		return 0, fmt.Errorf("%d records came and %d left by %+v, and %d are there", came, gone, *c, len(a.starts))
	}
	log := 0
	for q := range policy.Lane(segments.Lanes) {
		n, err := a.queue(q)
		if err != nil {
			return 0, fmt.Errorf("lane %d: %w", q, err)
		}
		log += n
	}
	if s.drain.id != 0 {
		if err := a.drained(&s.drain); err != nil {
			return 0, fmt.Errorf("drain of segment %d: %w", s.drain.id, err)
		}
		log++
	}
	for id := s.dead.Head; id != 0; id = s.tier.segs[id].Next {
		log++
	}
	if n := s.held.Load(); n != int64(log) {
		return 0, fmt.Errorf("the shard counts %d segments, and its lanes have %d", n, log)
	}
	for id := range a.live {
		if o := s.tier.segs[id].Owner.Load(); o != s.number {
			return 0, fmt.Errorf("a record lies in segment %d of shard %d", id, o)
		}
	}
	return log + s.spare.N + s.table.Chunks(), nil
}

// entry looks at one record that the index knows.
func (a *audit) entry(loc uint32) error {
	s, t := a.s, a.s.tier
	if a.starts[loc] {
		return fmt.Errorf("two entries")
	}
	a.starts[loc] = true
	r := t.recordAt(t.place(loc))
	key := string(s.key(&r))
	if a.keys[key] {
		return fmt.Errorf("two records of key %x", key)
	}
	a.keys[key] = true
	hash := t.Hash([]byte(key))
	if t.shardOf(hash) != s {
		return fmt.Errorf("key %x belongs to another shard", key)
	}
	if _, _, ok := s.table.Find(hash, loc); !ok {
		return fmt.Errorf("a search for key %x does not find it", key)
	}
	if v := t.header(r.off).version.Load(); v&1 != 0 {
		return fmt.Errorf("key %x has odd version %d", key, v)
	}
	id, in := t.segmentAt(r.off)
	seg := &t.segs[id]
	if d := t.graceDeadline(t.deadline(&r)); d != 0 && (seg.Earliest == 0 || d < seg.Earliest || d > seg.Latest) {
		return fmt.Errorf("deadline %d in a segment with deadlines from %d to %d", d, seg.Earliest, seg.Latest)
	}
	a.lanes[seg.Lane] += r.size
	if of := s.accountAt(r.off); of != nil {
		n := a.counted[of]
		n[seg.Lane] += int64(r.size)
		a.counted[of] = n
		return errors.Join(a.hand(of, r.off), a.pieces(loc, id, in, r.size))
	}
	return a.pieces(loc, id, in, r.size)
}

// pieces follows a record through the segments where it lies.
func (a *audit) pieces(loc, id, in uint32, size uint64) error {
	t := a.s.tier
	for {
		n := min(size, uint64(t.segSize()-in))
		a.live[id] += uint32(n)
		if size -= n; size == 0 {
			return nil
		}
		next := t.segs[id].Cont.Load()
		if next == 0 {
			return fmt.Errorf("%d bytes are missing after segment %d", size, id)
		}
		if h := t.segs[next].Head; h != loc {
			return fmt.Errorf("segment %d continues location %#x", next, h)
		}
		a.heads[next] = loc
		id, in = next, 0
	}
}

// queue looks at a lane's segments and returns their number.
func (a *audit) queue(q policy.Lane) (n int, err error) {
	s, segs := a.s, a.s.tier.segs
	prev := uint32(0)
	for id := s.queues[q].Head; id != 0; id = segs[id].Next {
		if seg := &segs[id]; seg.Prev != prev || seg.Queue != q || n > len(segs) {
			return 0, fmt.Errorf("segment %d follows %d in queue %d: want %d in %d", id, seg.Prev, seg.Queue, prev, q)
		}
		if segs[id].Live == 0 {
			return 0, fmt.Errorf("segment %d is dead and was not released", id)
		}
		if err := a.segment(q, id); err != nil {
			return 0, err
		}
		if got, want := segs[id].Grade, s.gradeOf(id); got != want {
			return 0, fmt.Errorf("segment %d with %d live bytes has grade %d: want %d", id, segs[id].Live, got, want)
		}
		prev = id
		n++
	}
	if tail := s.queues[q].Tail; tail != prev {
		return 0, fmt.Errorf("the queue ends at segment %d: want %d", tail, prev)
	}
	if open := s.lanes[q].Seg; open != 0 {
		if segs[open].Queue != policy.None {
			return 0, fmt.Errorf("segment %d is open and in queue %d", open, segs[open].Queue)
		}
		if err := a.segment(q, open); err != nil {
			return 0, err
		}
		n++
	}
	if b := s.queues[q].Bytes; b != a.lanes[q] {
		return 0, fmt.Errorf("the lane counts %d bytes, and has %d", b, a.lanes[q])
	}
	return n, nil
}

// drained looks at the segment that is being drained: it is nowhere else, and
// nothing lives there that was looked at already.
func (a *audit) drained(d *drain) error {
	t := a.s.tier
	seg := &t.segs[d.id]
	switch {
	case seg.Queue != policy.None || seg.Grade != 0:
		return fmt.Errorf("it is in queue %d with grade %d", seg.Queue, seg.Grade)
	case a.s.lanes[0].Seg == d.id || a.s.lanes[1].Seg == d.id:
		return fmt.Errorf("it is open")
	case seg.Live == 0:
		return fmt.Errorf("it is dead and was not released")
	case d.at > seg.End && !a.s.demotions.holdDrain(), // the last record may end in the next segment, and be on its way down
		d.at > 0 && (d.at < seg.First || seg.Head != 0 && a.s.demotions.at(t.place(seg.Head)) == nil):
		return fmt.Errorf("it is at %d, of %d to %d, and continues location %#x", d.at, seg.First, seg.End, seg.Head)
	}
	for loc := range a.starts {
		if id, in := t.segmentAt(t.place(loc)); id == d.id && in < d.at && a.s.demotions.at(t.place(loc)) == nil {
			return fmt.Errorf("the record at %d is still there at %d", in, d.at)
		}
	}
	return a.segment(seg.Lane, d.id)
}

func (a *audit) segment(q policy.Lane, id uint32) error {
	t := a.s.tier
	seg := &t.segs[id]
	switch {
	case seg.Owner.Load() != a.s.number || seg.Lane != q:
		return fmt.Errorf("segment %d is lane %d of shard %d", id, seg.Lane, seg.Owner.Load())
	case seg.Live != a.live[id]:
		return fmt.Errorf("segment %d counts %d live bytes, and has %d", id, seg.Live, a.live[id])
	case seg.Head != a.heads[id]:
		return fmt.Errorf("segment %d continues location %#x: want %#x", id, seg.Head, a.heads[id])
	}
	return a.walk(id)
}

// walk steps from record to record, dead ones included, as reclaiming does, and
// must meet every live one.
func (a *audit) walk(id uint32) error {
	t := a.s.tier
	seg, base, met := &t.segs[id], uint64(id)<<t.segShift, 0
	at := seg.First
	for at < seg.End {
		r := t.recordAt(base + uint64(at))
		if a.starts[uint32(r.off>>t.unitShift)] {
			met++
		}
		at += uint32(min(r.size, uint64(t.segSize())))
	}
	if at != seg.End && at < t.segSize() {
		return fmt.Errorf("the records of segment %d end at %d: want %d", id, at, seg.End)
	}
	for loc := range a.starts {
		if of, _ := t.segmentAt(t.place(loc)); of == id {
			met--
		}
	}
	if met != 0 {
		return fmt.Errorf("a walk through segment %d misses %d records", id, -met)
	}
	return nil
}

// Watched reports whether any key is watched, for tests.
func (t *Tier) Watched() bool {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		none := s.watches.None()
		s.mu.Unlock()
		if !none {
			return true
		}
	}
	return false
}

// accounts compares what the shard has of each account with the records that are there.
func (a *audit) accounts() error {
	for number, of := range a.s.tier.quotas.ByNumber() {
		h := of.Of(a.s.number)
		if want := a.counted[of]; h.Bytes != want || h.All.Load() != want[0]+want[1] {
			return fmt.Errorf("account %#x has %d bytes, %d together: want %d", number, h.Bytes, h.All.Load(), want)
		}
	}
	return nil
}

// hand looks whether an account's hand is still to come to its record at off.
func (a *audit) hand(of *quotas.Account, off uint64) error {
	s, t := a.s, a.s.tier
	id, in := t.segmentAt(off)
	h := of.Of(s.number).Hands[t.segs[id].Lane]
	switch {
	case id == s.drain.id || s.demotions.at(off) != nil || id == h.Seg && in >= h.At:
		return nil
	case !t.quotas.Marked(of, id):
		return fmt.Errorf("segment %d has a record of account %#x, and no mark", id, of.Number)
	}
	for at := h.Seg; at != 0; {
		if at = s.following(at); at == id {
			return nil
		}
	}
	return fmt.Errorf("the hand of account %#x, at %d of segment %d, has passed its record at %d of segment %d", of.Number, h.At, h.Seg, in, id)
}
