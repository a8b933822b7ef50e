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

// A window is the requests that a point is about: it forgets, so that a block of long ago weighs
// less, or nothing.
type window struct {
	weights  []float64 // by block
	requests []float64 // by block
	reads    float64   // all of them, weighed
}

// advance notes that a point is about so many reads after a block with requests of its own.
func (w *window) advance(requests int, reads float64) {
	n := float64(requests)
	before, kept := reads-n, 0.0
	if w.reads > 0 {
		kept = min(max(before/w.reads, 0), 1)
	}
	for b := len(w.weights) - 1; b >= 0; b-- {
		if w.reads == 0 { // a point tells of reads from when it was not valid yet
			kept = min(max(before/w.requests[b], 0), 1)
			before -= w.requests[b]
			w.weights[b] = 1
		}
		w.weights[b] *= kept
	}
	w.weights, w.requests = append(w.weights, min(max(reads/n, 0), 1)), append(w.requests, n)
	w.reads = max(reads, 0)
}

// ratio is the miss ratio of another cache over the same requests, of its misses by block.
func (w *window) ratio(misses []float64) (ratio float64, ok bool) {
	if misses == nil {
		return 0, false
	}
	missed, requests := 0.0, 0.0
	for b, weight := range w.weights {
		missed += weight * misses[b]
		requests += weight * w.requests[b]
	}
	return missed / requests, requests > 0
}
