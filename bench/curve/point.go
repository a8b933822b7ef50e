package curve

import (
	"slices"

	"github.com/firncache/firn/bench/hitratio"
)

// Sizes are those of the cache that is asked, in percent of the bytes of all keys and values.
var Sizes = []float64{5, 10}

// Factors are the sizes that it is asked about, as parts of its own.
var Factors = []float64{0.5, 2, 4}

// A Point is what a cache said of another size at one moment, and the truth. Ratios are 0 to 1.
type Point struct {
	Size      float64 // of the cache: one of Sizes
	Factor    float64 // of it: one of Factors
	At        int     // requests of the load, until then
	Valid     bool    // the rest is known
	Predicted float64 // miss ratio
	Bar       float64 // the truth is said to lie within ± this
	Real      float64 // miss ratio of a cache of that size, over the same requests
	Whole     float64 // and over all until then

	about window
}

// Points are those of a load in caches of all Sizes. Where firn has no curve, as the cache is too small for
// one, there are none.
func Points(t *hitratio.Trace) (all []Point, err error) {
	misses := map[float64][]float64{} // of sizes in percent, by block
	for _, size := range Sizes {
		some, err := predict(t, size)
		if err != nil {
			return nil, err
		}
		for i := range some {
			p := &some[i]
			if !p.Valid {
				continue
			}
			if of := size * p.Factor; misses[of] == nil {
				if misses[of], err = missesOf(t, of); err != nil {
					return nil, err
				}
			}
			p.Real = p.about.ratio(misses[size*p.Factor])
			p.Whole = window{p.about.blocks, float64(p.At)}.ratio(misses[size*p.Factor])
		}
		all = slices.Concat(all, some)
	}
	return all, nil
}
