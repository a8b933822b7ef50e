package workload

import (
	"io"
	"math/rand/v2"
)

// Mix describes a generated workload: reads of Zipf-distributed keys, broken by
// scans over keys that are read once, with values of mixed sizes, some of which
// expire. Equal fields give equal requests.
type Mix struct {
	Requests  int64   // how many; must be positive
	Keys      uint64  // number of popular keys; must be positive
	Skew      float64 // of their popularity; must be positive
	ScanShare float64 // share of the requests that belong to scans, 0 to below 1
	TTLShare  float64 // share of the keys whose values expire after 1 to 8 seconds
	ValueSize uint32  // bytes of every value; 0: mixed sizes, 32 bytes to 64 KiB, mean 1.1 KiB
	Seed      uint64
}

// DefaultMix is the workload of a replay without traces: 30 million requests,
// of which 15 % scan, over a million popular keys; a fifth of the keys expire.
func DefaultMix() Mix {
	return Mix{
		Requests: 30_000_000, Keys: 1_000_000, Skew: 0.99,
		ScanShare: 0.15, TTLShare: 0.2, Seed: 1,
	}
}

// Source returns the requests of m from the beginning.
func (m Mix) Source() Source {
	s := &mixSource{
		mix:  m,
		rng:  rand.New(rand.NewPCG(m.Seed, 1)),
		zipf: NewZipf(rand.NewPCG(m.Seed, 2), m.Skew, m.Keys),
	}
	// Scans start between zipf reads with the chance that gives their share.
	s.scanChance = m.ScanShare / (1 - m.ScanShare) / meanScan
	return s
}

const meanScan = 5000 // requests in a scan, on average

type mixSource struct {
	mix        Mix
	rng        *rand.Rand
	zipf       *Zipf
	scanChance float64

	done     int64
	scanLeft int    // requests that remain of the running scan
	scanned  uint64 // keys scanned so far: every scan reads new ones
}

func (s *mixSource) Read(dst []Request) (int, error) {
	left := s.mix.Requests - s.done
	if left <= 0 {
		return 0, io.EOF
	}
	dst = dst[:min(int64(len(dst)), left)]
	for i := range dst {
		dst[i] = s.next()
	}
	s.done += int64(len(dst))
	return len(dst), nil
}

func (s *mixSource) next() Request {
	if s.scanLeft == 0 && s.rng.Float64() < s.scanChance {
		s.scanLeft = 1 + s.rng.IntN(2*meanScan)
	}
	if s.scanLeft > 0 {
		s.scanLeft--
		s.scanned++
		return s.request(s.mix.Keys + s.scanned)
	}
	return s.request(s.zipf.Next())
}

// request returns the read of the key with the given number: size and TTL
// belong to the key, so they are drawn from its hash.
func (s *mixSource) request(number uint64) Request {
	id := Scramble(number + 1)
	h := Scramble(id ^ s.mix.Seed)
	r := Request{Key: id, Size: s.mix.ValueSize}
	if r.Size == 0 {
		r.Size = mixedSize(h)
	}
	if float64(h>>11)/(1<<53) < s.mix.TTLShare {
		r.TTL = 1 + uint32(h&7)
	}
	return r
}

// mixedSize draws a size from four classes, evenly within each.
func mixedSize(h uint64) uint32 {
	class, pos := h%100, uint32(h>>32)
	between := func(low, high uint32) uint32 { return low + pos%(high-low) }
	switch {
	case class < 60:
		return between(32, 256)
	case class < 90:
		return between(256, 1<<10)
	case class < 99:
		return between(1<<10, 8<<10)
	default:
		return between(8<<10, 64<<10)
	}
}

func (s *mixSource) Done() float64 { return float64(s.done) / float64(s.mix.Requests) }

func (s *mixSource) Close() error { return nil }
