package curve

import (
	"slices"
	"sync"

	"github.com/firncache/firn/bench/hitratio"
)

// Sizes are those of the cache that predicts, in percent of the bytes of all keys and values.
var Sizes = []float64{1, 5, 10, 20}

// Factors are the sizes that it is asked about, as parts of its own.
var Factors = []float64{0.25, 0.5, 2, 4, 8}

// A Cell is one prediction, and the truth. Ratios are 0 to 1.
type Cell struct {
	Size      float64 // of the cache that predicts: one of Sizes
	Factor    float64 // of it: one of Factors
	Predicted float64 // miss ratio
	Bar       float64 // the truth is said to lie within ± this
	Real      float64 // miss ratio, over the same requests
	Keys      int     // of the sample, behind the prediction

	about window
}

// A Predictor is who is asked, and who knows better.
type Predictor struct {
	Name    string
	predict func(t *hitratio.Trace, size float64) ([]Cell, error)
	// truth is the misses of a cache of that size, by block; nil where there is none of it.
	truth func(t *hitratio.Trace, size float64) ([]float64, error)
}

// Predictors lists them.
var Predictors = []Predictor{{"policy", predictPolicy, policyMisses}, {"cache", predictCache, cacheMisses}}

// Cells are those of one trace, and of caches of some sizes, that have a prediction and a truth. So many
// goroutines work them out.
func (p Predictor) Cells(t *hitratio.Trace, of []float64, goroutines int) ([]Cell, error) {
	predicted, err := each(of, goroutines, func(size float64) ([]Cell, error) { return p.predict(t, size) })
	if err != nil {
		return nil, err
	}
	cells := slices.Concat(predicted...)
	var sizes []float64
	for _, c := range cells {
		sizes = append(sizes, c.Size*c.Factor)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	misses, err := each(sizes, goroutines, func(size float64) ([]float64, error) { return p.truth(t, size) })
	if err != nil {
		return nil, err
	}
	var known []Cell
	for _, c := range cells {
		i, _ := slices.BinarySearch(sizes, c.Size*c.Factor)
		if real, ok := c.about.ratio(misses[i]); ok {
			c.Real = real
			known = append(known, c)
		}
	}
	return known, nil
}

// each calls a function for all sizes, in so many goroutines at a time.
func each[T any](sizes []float64, goroutines int, f func(size float64) (T, error)) ([]T, error) {
	results, errs := make([]T, len(sizes)), make([]error, len(sizes))
	slots := make(chan struct{}, goroutines)
	var done sync.WaitGroup
	for i, size := range sizes {
		done.Go(func() {
			slots <- struct{}{}
			results[i], errs[i] = f(size)
			<-slots
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}
