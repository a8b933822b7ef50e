package ram

import (
	"fmt"
	"runtime"

	"github.com/firncache/firn/internal/policy"
)

// SetBytes changes the budget. When it returns, no more than that is in use,
// and what was freed is given back to the system.
func (t *Tier) SetBytes(bytes int64) error {
	var left Left
	defer left.Report()
	return t.setBytes(bytes, &left)
}

func (t *Tier) setBytes(bytes int64, left *Left) error {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	least, most := t.minBytes(), t.maxBytes()
	if bytes < least || bytes > most {
		return fmt.Errorf("ram: %d bytes: want %d to %d", bytes, least, most)
	}
	shrinks := bytes < t.bytes.Load()
	t.setLimit(bytes)
	if !shrinks {
		t.full.Store(false) // it may fill again
		t.pool.wakePrefaulter()
		return nil
	}
	t.shrink(0, left)
	return nil
}

// Charge counts bytes of memory that the tier below uses, or uses no more if
// negative, against the budget. When it returns, no more than the budget is in
// use, both together. It fails, and changes nothing, if too little would be left
// for this tier, or if more is given back than was charged. The caller holds no
// lock that Below or Evicted take. Memory that records have used is taken back
// in small pages, so what is known early is best charged early.
func (t *Tier) Charge(bytes int64) error {
	var left Left
	defer left.Report()
	t.resizing.Lock()
	defer t.resizing.Unlock()
	lent := t.lent.Load() + bytes
	if most := t.bytes.Load() - t.leastOwn(); lent < 0 || bytes > 0 && lent > most {
		return fmt.Errorf("ram: %d bytes for the tier below: want 0 to %d", lent, most)
	}
	t.lent.Store(lent)
	t.setLimit(t.bytes.Load())
	if most, beyond := t.pool.excess(); beyond {
		t.shrink(most, &left)
	} else {
		t.pool.wakePrefaulter()
	}
	return nil
}

// shrink reclaims until no more segments are in use than may be, and gives free
// ones back to the system until no more than so many have memory, if it can. The
// caller holds resizing.
func (t *Tier) shrink(resident int, left *Left) {
	t.janitor.sweeping.Lock() // no prefault meanwhile
	defer t.janitor.sweeping.Unlock()
	t.region.AdviseSmall() // lest the system fills the holes with huge pages
	for t.pool.over() > 0 && !t.closed.Load() {
		victim := t.richest(&t.shards[0])
		victim.mu.Lock()
		freed := victim.reclaim()
		victim.unlock(left)
		if !freed {
			runtime.Gosched()
		}
	}
	t.pool.chill(resident, t.decommit)
}

// decommit gives the memory of n segments back.
func (t *Tier) decommit(first, n uint32) {
	// A failure leaves memory with us that the budget no longer counts; there
	// is nobody who could do anything about it.
	_ = t.region.Decommit(uint64(first)<<t.segShift, uint64(n)<<t.segShift)
}

// minBytes is the smallest budget that the tier can shrink to.
func (t *Tier) minBytes() int64 { return t.lent.Load() + t.leastOwn() }

// leastOwn is the least of the budget that the tier below must leave:
// bookkeeping, and eight segments for each shard.
func (t *Tier) leastOwn() int64 {
	return max(MinBytes, t.overhead.Load()+int64(len(t.shards))*8*t.segmentCost())
}

func (t *Tier) maxBytes() int64 { return t.overhead.Load() + int64(len(t.segs)-1)*t.segmentCost() }

// Clear removes every record. It reports false if the tier is closed.
func (t *Tier) Clear() bool {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		if !s.closed {
			s.clear()
		}
		s.unlockAndReport()
	}
	t.full.Store(false)
	return !t.closed.Load()
}

// Closed reports whether Close was called.
func (t *Tier) Closed() bool { return t.closed.Load() }

// clear empties a shard. Nothing can be found before any segment is given back.
func (s *shard) clear() {
	if s.tier.evicted != nil {
		s.emitAll()
	}
	chunks := s.table.Clear()
	for q := range policy.Lane(lanes) {
		s.seal(q)
		for id := s.queues[q].head; id != 0; id = s.queues[q].head {
			s.tier.segs[id].live = 0
			s.release(id)
		}
		s.queues[q].bytes = 0
	}
	for _, chunk := range chunks {
		s.retire(chunk)
	}
}

func (s *shard) emitAll() {
	buckets := s.table.Pin()
	defer s.table.Unpin()
	for j := range buckets {
		for loc := range s.table.Under(j, buckets) {
			r := s.tier.stored(s.tier.place(loc))
			s.emit(&r, Deleted)
		}
	}
}

// Close forgets every record and gives the memory back to the system. Reads go
// on and find nothing; writes report that the tier is closed. It may be called
// again, and while other calls are under way. It reports whether it was the
// first.
func (t *Tier) Close() bool {
	if t.closed.Swap(true) {
		return false
	}
	t.stop()
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		s.closed = true
		s.table.Clear()
		s.epoch.Add(1) // now: who sees this epoch finds nothing, and all others begin anew
		s.mu.Unlock()
	}
	t.pool.wakeWriters()
	_ = t.region.Decommit(0, t.region.Size()) // Free takes the rest
	return true
}

// Free returns the address space. Nobody may use the tier afterwards.
func (t *Tier) Free() {
	t.Close()
	_ = t.region.Release()
}
