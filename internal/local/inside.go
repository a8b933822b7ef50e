package local

import (
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/policy/whatif"
)

// Inside is what a page shows of the tiers beyond their figures. segments is room for the map
// of the log.
func (s *Store) Inside(segments []byte) (in inside.Inside) {
	in.Closed = s.RAM.Closed()
	in.Policy = s.RAM.Policy()
	in.RAMReads = s.RAM.ReadTimes()
	in.Segments = segments[:0]
	in.Health = inside.Health{SSD: inside.None, Shared: inside.None}
	if s.ssd != nil {
		in.Segments, in.SSDBudget = s.ssd.tier.Segments(in.Segments), s.ssd.tier.Budget()
		in.Health.SSD, in.Health.SSDReason, in.Health.Since = s.ssd.tier.Health()
	}
	s.KeepAlive()
	return in
}

// ReadKeys is ram.Tier.ReadKeys.
func (s *Store) ReadKeys() [][]byte {
	defer s.KeepAlive()
	return s.RAM.ReadKeys()
}

// Simulated is what the tiers would do at other sizes.
type Simulated struct {
	RAM, Both       whatif.Curve // of RAM alone, and of RAM and SSD as one cache
	HasRAM, HasBoth bool         // whether it is simulated
	RAMBytes        int64        // the budgets
	SSDBytes        int64

	Hits, Misses uint64 // of reads, in RAM, since the tiers were opened
	SSDHits      uint64 // of the misses, those that the SSD has answered
}

// Simulated returns the findings of the simulations.
func (s *Store) Simulated() (r Simulated) {
	r.RAM, r.Both, r.HasRAM, r.HasBoth = s.RAM.Simulated()
	r.RAMBytes, r.Hits, r.Misses = s.RAM.Figures()
	if s.ssd != nil {
		_, _, r.SSDHits = s.ssd.tier.Room()
		r.SSDBytes = s.ssd.bytes
	}
	s.KeepAlive()
	return r
}

// Force is what tests can force.
func (s *Store) Force() Force { return Force{s} }
