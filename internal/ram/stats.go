package ram

import (
	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/inside"
)

// Stats is a snapshot of a tier. Sizes are in bytes.
type Stats struct {
	Counters
	Hits, Misses          uint64 // approximate: see readCounters
	PolicyChanges         uint64
	Entries               int64
	Budget                int64
	Used                  int64 // of the budget, bookkeeping included
	Resident              int64 // backed by memory, free segments included
	IndexBytes            int64
	SmallBytes, MainBytes int64 // live records in the lanes
	Overhead              int64 // bookkeeping other than the index
	ReservedBytes         int64 // of the budget, reserved for the lower tier: see Reserve
	HugePages             bool
	Prefaulted            int64
	EvictionAges          histogram.Histogram // of records that left because their room was needed, to the lower tier too, since they were stored or last moved
}

// Stats takes a snapshot, one shard after the other.
func (t *Tier) Stats() Stats {
	st := Stats{HugePages: t.region.Huge(), PolicyChanges: t.tuner.Changes(), EvictionAges: t.ages.Snapshot()}
	st.Hits, st.Misses = t.reads.sum()
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		small, main := s.laneBytes()
		st.SmallBytes += small
		st.MainBytes += main
		st.Entries += int64(s.table.Len())
		st.IndexBytes += int64(s.table.Chunks()) << t.segShift
		st.Counters.add(&s.count)
		s.mu.Unlock()
	}
	p := &t.pool
	p.Lock()
	defer p.Unlock()
	st.Budget = t.bytes.Load()
	st.Overhead = t.overhead.Load() + int64(p.Used)*(t.segmentCost()-int64(t.segSize()))
	st.ReservedBytes = t.reserved.Load()
	st.Used = st.ReservedBytes + t.overhead.Load() + int64(p.Used)*t.segmentCost()
	st.Resident = st.ReservedBytes + t.overhead.Load() + int64(p.Resident())*t.segmentCost()
	st.Prefaulted = int64(p.Prefaulted) << t.segShift
	return st
}

// Policy is the setting of the eviction policy, those to choose from, and why.
func (t *Tier) Policy() inside.Policy {
	list, current := t.tuner.Choices()
	p := inside.Policy{Current: current, Filling: !t.full.Load()}
	for _, c := range list {
		p.Settings = append(p.Settings, inside.Setting{Name: c.Setting.String(), Score: c.Score})
	}
	return p
}
