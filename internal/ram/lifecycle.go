package ram

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/record"
)

// New makes a tier.
func New(cfg Config) (*Tier, error) {
	if cfg.Bytes < MinBytes {
		return nil, fmt.Errorf("ram: %d bytes: want at least %d", cfg.Bytes, MinBytes)
	}
	if cfg.Grace < 0 {
		return nil, fmt.Errorf("ram: grace of %d ms: want at least 0", cfg.Grace)
	}
	g := geometryFor(cfg.Bytes, cfg.MaxBytes)
	t := unreserved(&cfg, g)
	if cfg.HashMask != 0 {
		t.hashMask = cfg.HashMask
	}
	t.janitor.quit = make(chan struct{})
	t.slides = newSliding(cfg.Slide)
	t.overlapFrom = overlapFrom
	t.clock = newTimes(cfg.Now, cfg.Ticking, t.slides.lead())
	t.passed = newTimes(cfg.Now, cfg.Ticking, 0)
	if cfg.PageSize == 0 {
		cfg.PageSize = os.Getpagesize()
	}
	perPage := max(1, cfg.PageSize>>g.segShift)
	err := t.layOut(g, &cfg, perPage)
	if err != nil && cfg.MaxBytes == 0 { // the system counts reserved memory, or limits it
		g.maxSegments = geometryFor(cfg.Bytes, cfg.Bytes).maxSegments
		err = t.layOut(g, &cfg, perPage)
	}
	if err != nil {
		return nil, fmt.Errorf("ram: %w: %w", ErrAddressSpace, err)
	}
	t.pool.Init(t.segs, uint32(perPage))
	if least := t.minBytes(); cfg.Bytes < least {
		_ = t.region.Release()
		return nil, fmt.Errorf("ram: %d bytes: want at least %d", cfg.Bytes, least)
	}
	for i := range t.shards {
		t.shards[i].init(t, uint32(i+1))
	}
	if cfg.Bytes >= hugeFrom && t.region.Mapped() {
		t.pool.Wake = make(chan struct{}, 1)
		t.pool.WakePrefaulter()
		go t.runPrefaulter()
	}
	return t, nil
}

// unreserved is a tier without memory for records.
func unreserved(cfg *Config, g geometry) *Tier {
	t := &Tier{
		hasher:   record.NewHasher(cfg.Seed),
		hashMask: cfg.HashMask - 1, // 0: all ones
		onEvict:  cfg.OnEvict,
		wants:    cfg.Wants,
		lower:    cfg.Lower,
		segShift: g.segShift, unitShift: g.unitShift, segMask: 1<<g.segShift - 1,
		shardMask: uint64(g.shards - 1),
		shards:    make([]shard, g.shards),
		ghostless: g.shards,
		ghostMax:  8 * uint64(policy.GhostWords(cfg.Bytes, cfg.Bytes/int64(g.shards))),
		tuner:     policy.NewTuner(cfg.Bytes),
		freeAhead: 2 + g.shards/4,
		maxWalk:   stepRecords,
	}
	t.grace.Store(cfg.Grace)
	t.ages.Scale = histogram.Ages
	t.probe = newProbe(cfg.Bytes)
	t.setLower(cfg.Lower)
	t.simulations.init(cfg.Simulation, cfg.Lower)
	t.wantSimulated(t.simulations.mask())
	if cfg.OnEvict != nil {
		t.NotifyOf(evicted.Gone)
	}
	t.reads.init(g.shards)
	t.overhead.Store(sizeOf[Tier]() + int64(g.shards)*sizeOf[shard]() + t.reads.bytes() + t.tuner.Bytes() + t.simulations.bytes() + t.probe.size())
	t.setLimit(cfg.Bytes)
	return t
}

// MaxRecord is [Tier.MaxRecord] of a new tier of so many bytes, of which the lower tier
// has reserved some.
func MaxRecord(bytes, reserved int64) int64 {
	t := unreserved(&Config{Bytes: bytes, Simulation: ServiceSimulation(bytes)}, geometryFor(bytes, 0))
	t.reserved.Store(reserved)
	t.setLimit(bytes)
	return t.MaxRecord()
}

// setLower notes up to which length the lower tier takes records as a whole.
func (t *Tier) setLower(below LowerTier) {
	t.maxWhole = math.MaxInt
	if p, ok := below.(LowerTierInParts); ok {
		t.lowerInParts, t.maxWhole = p, p.MaxWhole()
	}
}

// layOut reserves and lays out the region: the segments, the ghosts, the table of
// segments and each shard's list of index chunks. Only pages that are touched cost
// memory.
func (t *Tier) layOut(g geometry, cfg *Config, perPage int) (err error) {
	reserve, bytes := cfg.ReserveRegion, cfg.Bytes
	if reserve == nil {
		reserve = offheap.Reserve
	}
	n := uint64((g.maxSegments + perPage) / perPage * perPage) // whole pages: the ghosts have their own
	t.ghostAt = n << g.segShift
	tableAt := t.ghostAt + t.ghostMax*uint64(g.shards)
	t.chunksAt = tableAt + n*uint64(sizeOf[segments.Segment]())
	t.maxChunks = n/uint64(g.shards) + 8
	if t.region, err = reserve(t.chunksAt + 4*t.maxChunks*uint64(g.shards)); err != nil {
		return err
	}
	t.base = t.region.Base()
	t.segs = offheap.View[segments.Segment](t.region.Bytes(tableAt, int(t.chunksAt-tableAt)))
	if bytes >= hugeFrom {
		t.region.AdviseHuge(0, t.ghostAt)
	}
	return nil
}

func (s *shard) init(t *Tier, number uint32) {
	s.tier, s.number = t, number
	t.pool.Take(&s.spare, 1)
	mem := index.Memory{Region: t.region, ChunkShift: t.segShift}
	list := t.region.Bytes(t.chunksAt+4*t.maxChunks*uint64(number-1), int(4*t.maxChunks))
	s.table.Init(mem, s.spare.Pop(t.segs), offheap.View[atomic.Uint32](list), s.hashAll)
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
		s.epoch.Add(1) // now: readers that see this epoch find nothing, and all others begin again
		s.mu.Unlock()
	}
	t.probe.clear()
	t.pool.WakeWriters()
	_ = t.region.Decommit(0, t.region.Size()) // Free takes the rest
	return true
}

// Closed reports whether Close was called.
func (t *Tier) Closed() bool { return t.closed.Load() }

// Free returns the address space. No method may be called afterwards other than Reserve, which
// a lower tier that hangs on its disk may yet call.
func (t *Tier) Free() {
	t.Close()
	t.resizing.Lock()
	defer t.resizing.Unlock()
	_ = t.region.Release()
}
