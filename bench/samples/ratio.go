package samples

import "slices"

// Spread is the middle of a set of values and how far they lie apart.
type Spread struct {
	Median, Low, High float64 // Low and High are the quartiles
	Count             int
}

// SpreadOf returns the spread of values, which it sorts. No values: all zero.
func SpreadOf(values []float64) Spread {
	slices.Sort(values)
	return Spread{quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75), len(values)}
}

// quantile interpolates between the two values nearest to the q-th part of a
// sorted slice.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	part := at - float64(i)
	return sorted[i]*(1-part) + sorted[i+1]*part
}

// Filter says which samples to look at; empty fields match all.
type Filter struct{ Suite, Name, Cache, Against string }

func (f Filter) matches(s Sample) bool {
	return (f.Suite == "" || f.Suite == s.Suite) && (f.Name == "" || f.Name == s.Name) &&
		(f.Cache == "" || f.Cache == s.Cache) && (f.Against == "" || f.Against == s.Against)
}

// Select returns the samples that match.
func Select(all []Sample, f Filter) []Sample {
	var out []Sample
	for _, s := range all {
		if f.matches(s) {
			out = append(out, s)
		}
	}
	return out
}

// Values returns the spread of the samples' values.
func Values(all []Sample) Spread {
	var v []float64
	for _, s := range all {
		v = append(v, s.Value)
	}
	return SpreadOf(v)
}

// Ratio compares firn with a rival that it took turns with on one benchmark: how
// many times as many operations a second firn did in each repeat. Values are
// times, so the ratio of a repeat is the rival's over firn's.
func Ratio(all []Sample, suite, name, rival string) Spread {
	turns := firnTurns(Select(all, Filter{Suite: suite, Name: name, Cache: firn}))
	var ratios []float64
	for _, s := range Select(all, Filter{suite, name, rival, firn}) {
		if s.Ratio != nil {
			return *s.Ratio
		}
		if t := turns.beside(rival, s); t > 0 {
			ratios = append(ratios, s.Value/t)
		}
	}
	return SpreadOf(ratios)
}

// Medians sums up the turns: for each measurement and cache one sample with the median of
// its values, and of a rival with the ratio to firn and its quartiles.
func Medians(all []Sample) []Sample {
	type series struct{ name, cache string }
	turns := make(map[series][]Sample)
	var order []series
	for _, s := range all {
		of := series{s.Name, s.Cache}
		if len(turns[of]) == 0 {
			order = append(order, of)
		}
		turns[of] = append(turns[of], s)
	}
	var sums []Sample
	for _, of := range order {
		sums = append(sums, sum(all, turns[of]))
	}
	return sums
}

// sum is the one sample for all turns of a cache in a measurement.
func sum(all, turns []Sample) Sample {
	s := Sample{Suite: turns[0].Suite, Name: turns[0].Name, Cache: turns[0].Cache, Unit: turns[0].Unit, Value: Values(turns).Median}
	if s.Cache != firn {
		s.Against = turns[0].Against
	}
	hits, count := 0.0, 0
	for _, t := range turns {
		s.Ops += t.Ops
		if t.Hit != nil {
			hits += *t.Hit
			count++
		}
	}
	if count > 0 {
		hits /= float64(count)
		s.Hit = &hits
	}
	if ratio := Ratio(all, s.Suite, s.Name, s.Cache); ratio.Median > 0 {
		s.Ratio = &ratio
	}
	return s
}
