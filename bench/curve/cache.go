package curve

import (
	"fmt"
	"slices"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/stats"
)

// opens is how many caches the truth is the mean of: each has a hash of its own.
func opens(t *hitratio.Trace) int { return min(max(1_000_000/len(t.Requests), 2), 4) }

// tick is the time from one request to the next on the cache's clock, as on a server that has 20,000
// a second: the simulation may take a share of the time.
const tick = 50 * time.Microsecond

// replayed is a cache on the clock of a trace.
type replayed struct {
	cache *firn.Cache
	time  time.Time
}

func open(bytes int64, whatIf firn.WhatIf) (*replayed, error) {
	r := &replayed{time: time.Unix(0, 0)}
	var err error
	r.cache, err = firn.Open(firn.Options{RAMBytes: bytes, WhatIf: whatIf, Clock: func() time.Time { return r.time }})
	if err != nil {
		return nil, fmt.Errorf("open firn with %d bytes: %w", bytes, err)
	}
	return r, nil
}

// replay gives a cache the requests of a trace.
func (r *replayed) replay(t *hitratio.Trace, after func(block, misses int)) {
	value := make([]byte, slices.Max(t.Sizes))
	var key, buf []byte
	eachBlock(t, func(number int32) (ok bool) {
		r.time = r.time.Add(tick)
		key = keys.Append(key[:0], uint64(number))
		if buf, ok = r.cache.Get(buf[:0], key); !ok {
			_ = r.cache.Set(key, value[:t.Sizes[number]]) // one that is too large is not stored
		}
		return ok
	}, after)
}

// bytesOf is a share of all keys and values, in percent.
func bytesOf(t *hitratio.Trace, size float64) int64 {
	return int64(size / 100 * float64(t.WorkingSet()))
}

// missesOf is the misses of caches of a size in percent, by block.
func missesOf(t *hitratio.Trace, size float64) ([]float64, error) {
	all, n := make([]float64, blocks(t)), opens(t)
	for range n {
		r, err := open(bytesOf(t, size), firn.WhatIfOff)
		if err != nil {
			return nil, err
		}
		r.replay(t, func(b, misses int) { all[b] += float64(misses) / float64(n) })
		if err := r.cache.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// moments is how often a cache is asked, but for the first of these.
const moments = 10

// predict asks a cache of a size in percent.
func predict(t *hitratio.Trace, size float64) (all []Point, err error) {
	step := max(blocks(t)/moments, 1)
	if bytesOf(t, size) < hitratio.Smallest {
		return nil, nil
	}
	r, err := open(bytesOf(t, size), firn.WhatIfOn)
	if err != nil {
		return nil, err
	}
	r.replay(t, func(b, _ int) {
		if (b+1)%step != 0 || b+1 == step {
			return
		}
		c := r.cache.Curve().RAM
		for _, p := range c.Points {
			if slices.Contains(Factors, p.Factor) {
				all = append(all, Point{
					Size: size, Factor: p.Factor, At: (b + 1) * blockOf, Valid: p.State == stats.CurveValid,
					Predicted: p.MissRatio, Bar: p.Error, about: window{b + 1, c.Reads},
				})
			}
		}
	})
	return all, r.cache.Close()
}
