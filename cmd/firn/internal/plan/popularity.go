package plan

import "math"

// Popularity says how reads are spread over entries: by Zipf's law if Zipf is
// above 0, otherwise evenly over the hot entries and evenly over the others.
type Popularity struct {
	Zipf     float64 // exponent
	Hot      float64 // share of the entries that are hot
	HotReads float64 // share of the reads that go to these
}

// mass is the share of the reads that goes to the n most popular of all entries.
func (p *Popularity) mass(n, all int64) float64 {
	switch x := float64(n) / float64(all); {
	case n >= all:
		return 1
	case p.Zipf > 0:
		return harmonic(n, p.Zipf) / harmonic(all, p.Zipf)
	case x <= p.Hot:
		return p.HotReads * x / p.Hot
	default:
		return p.HotReads + (1-p.HotReads)*(x-p.Hot)/(1-p.Hot)
	}
}

// hotEntries is how many of all entries are hot, 0 if popularity does not say.
func (p *Popularity) hotEntries(all int64) int64 {
	if p.Zipf > 0 {
		return 0
	}
	return int64(math.Ceil(p.Hot * float64(all)))
}

// harmonic is the sum of k^-s for k from 1 to n: its first terms, and the
// integral of the others.
func harmonic(n int64, s float64) float64 {
	const exact = 1000
	sum := 0.
	for k := range min(n, exact) {
		sum += math.Pow(float64(k+1), -s)
	}
	if n <= exact {
		return sum
	}
	from, to := math.Log(exact+.5), math.Log(float64(n)+.5)
	if s == 1 {
		return sum + to - from
	}
	return sum + (math.Exp((1-s)*to)-math.Exp((1-s)*from))/(1-s)
}
