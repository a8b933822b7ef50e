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
func opens(t *hitratio.Trace) int { return min(max(2_000_000/len(t.Requests), 1), 4) }

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
func (r *replayed) replay(t *hitratio.Trace, after func(block, requests, misses int)) {
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

// cacheMisses is the misses of caches of a size in percent, by block; nil where firn has none so small.
func cacheMisses(t *hitratio.Trace, size float64) ([]float64, error) {
	bytes := bytesOf(t, size)
	if bytes < hitratio.Smallest {
		return nil, nil
	}
	all := make([]float64, blocks(t))
	if size >= roomy {
		eachBlock(t, seen(), func(b, _, misses int) { all[b] = float64(misses) })
		return all, nil
	}
	n := opens(t)
	for range n {
		r, err := open(bytes, firn.WhatIfOff)
		if err != nil {
			return nil, err
		}
		r.replay(t, func(b, _, misses int) { all[b] += float64(misses) / float64(n) })
		if err := r.cache.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// roomy is a size, in percent, at which nothing is evicted.
const roomy = 130

// seen reports whether there has been a request for a key: they are numbered by their first.
func seen() func(key int32) bool {
	next := int32(0)
	return func(key int32) bool {
		if key < next {
			return true
		}
		next++
		return false
	}
}

// predictCache predicts from a cache of a size in percent.
func predictCache(t *hitratio.Trace, size float64) (cells []Cell, err error) {
	bytes := bytesOf(t, size)
	if bytes < hitratio.Smallest {
		return nil, nil
	}
	r, err := open(bytes, firn.WhatIfOn)
	if err != nil {
		return nil, err
	}
	var curve stats.SizeCurve
	var about window
	r.replay(t, func(_, requests, _ int) {
		curve = r.cache.Curve().RAM
		about.advance(requests, curve.Reads)
	})
	for _, p := range curve.Points {
		if p.Factor != 1 && p.State == stats.CurveValid {
			cells = append(cells, Cell{Size: size, Factor: p.Factor, Predicted: p.MissRatio, Bar: p.Error, Keys: p.Keys, about: about})
		}
	}
	return cells, r.cache.Close()
}
