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
	weights []float64 // by block
	reads   float64   // all of them, weighed
}

// advance notes that a point is about so many reads after a block with requests of its own.
func (w *window) advance(requests int, reads float64) {
	kept, own := 0.0, 1.0
	if rest := reads - float64(requests); rest > 0 && w.reads > 0 {
		kept = min(rest/w.reads, 1)
	} else if rest < 0 {
		own = max(reads, 0) / float64(requests)
	}
	for b := range w.weights {
		w.weights[b] *= kept
	}
	w.weights = append(w.weights, own)
	w.reads = max(reads, 0)
}

// ratio is the miss ratio of another cache over the same requests, of its misses by block.
func (w *window) ratio(t *hitratio.Trace, misses []float64) (ratio float64, ok bool) {
	if misses == nil {
		return 0, false
	}
	missed, requests := 0.0, 0.0
	for b, weight := range w.weights {
		missed += weight * misses[b]
		requests += weight * float64(min(blockOf, len(t.Requests)-b*blockOf))
	}
	return missed / requests, requests > 0
}
