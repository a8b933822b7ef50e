package tiered

import "github.com/firncache/firn/internal/policy/whatif"

// Simulated is what the tiers would do at other sizes.
type Simulated struct {
	RAM, Both       whatif.Curve // of RAM alone, and of RAM and SSD as one cache
	HasRAM, HasBoth bool         // whether it is simulated
	RAMBytes        int64        // the budgets
	SSDBytes        int64

	Hits, Misses uint64 // of reads, in RAM, since the tiers were opened
	SSDHits      uint64 // of the misses, those that the SSD has answered
}

// Simulated asks the simulations.
func (s *Store) Simulated() (r Simulated) {
	r.RAM, r.Both, r.HasRAM, r.HasBoth = s.ram.Simulated()
	r.RAMBytes, r.Hits, r.Misses = s.ram.Figures()
	if s.ssd != nil {
		_, _, r.SSDHits = s.ssd.tier.Room()
		r.SSDBytes = s.ssd.bytes
	}
	s.keepAlive()
	return r
}
