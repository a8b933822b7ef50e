package curve

import "github.com/firncache/firn/bench/hitratio"

// blockOf is how many requests are counted together.
const blockOf = 10_000

// blocks is into how many parts a trace's requests come.
func blocks(t *hitratio.Trace) int { return (len(t.Requests) + blockOf - 1) / blockOf }

// eachBlock replays a trace block by block: access reports whether a key was there.
func eachBlock(t *hitratio.Trace, access func(key int32) bool, after func(block, requests, misses int)) {
	for b := range blocks(t) {
		part := t.Requests[b*blockOf : min((b+1)*blockOf, len(t.Requests))]
		misses := 0
		for _, key := range part {
			if !access(key) {
				misses++
			}
		}
		after(b, len(part), misses)
	}
}

// A window is the requests that a curve is about: the latest of a trace.
type window struct {
	requests []float64 // by block
	reads    float64   // that the curve is about
}

// advance notes a block of requests, and how many reads the curve is about after it.
func (w *window) advance(requests int, reads float64) {
	w.requests = append(w.requests, float64(requests))
	w.reads = reads
}

// ratio is the miss ratio of another cache over the same requests, of its misses by block. A block
// that is in the window in part counts as such a part of its misses.
func (w *window) ratio(misses []float64) (ratio float64, ok bool) {
	if misses == nil || w.reads <= 0 {
		return 0, false
	}
	missed, left := 0.0, w.reads
	for b := len(w.requests) - 1; b >= 0 && left > 0; b-- {
		part := min(left/w.requests[b], 1)
		missed += part * misses[b]
		left -= part * w.requests[b]
	}
	return missed / (w.reads - left), true
}
