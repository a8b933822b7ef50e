package whatif

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/workload"
)

// BenchmarkEvent is a read of a key of the sample, with the store that follows a miss.
func BenchmarkEvent(b *testing.B) {
	s, zipf := New(1<<20, 1e9), workload.NewZipf(rand.NewPCG(1, 2), 0.9, 1<<15)
	hashes := make([]uint64, 1<<16)
	for i := range hashes {
		hashes[i] = workload.Scramble(zipf.Next() + 1)
	}
	s.Sync(2<<20, true, 0, 0)
	events := 0
	tell := func(hash uint64) {
		if !s.groups[0].rate.has(hash) {
			return
		}
		g := s.groups[0]
		found := g.control.pieces[newEvent(hash, 0, 0).piece].has(g.table.find(hash), 0)
		s.Read(hash, found, 1000, 0, 0)
		if events++; !found {
			s.Store(hash, 1000, 0, 0)
			events++
		}
	}
	for _, h := range hashes {
		tell(h)
	}
	events = 0
	for i := 0; b.Loop(); i++ {
		tell(hashes[i%len(hashes)])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
