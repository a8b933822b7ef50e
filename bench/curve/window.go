package curve

import "github.com/firncache/firn/bench/hitratio"

// blockOf is how many requests are counted together.
const blockOf = 5000

// blocks is how many whole blocks a trace has; the rest is not replayed.
func blocks(t *hitratio.Trace) int { return len(t.Requests) / blockOf }

// eachBlock replays a trace block by block: access reports whether a key was there.
func eachBlock(t *hitratio.Trace, access func(key int32) bool, after func(block, misses int)) {
	for b := range blocks(t) {
		misses := 0
		for _, key := range t.Requests[b*blockOf : (b+1)*blockOf] {
			if !access(key) {
				misses++
			}
		}
		after(b, misses)
	}
}

// A window is the latest requests of so many blocks of a trace.
type window struct {
	blocks int
	reads  float64
}

// ratio is the miss ratio of a cache over these requests, of its misses by block. A block that is in
// the window in part counts as such a part of its misses.
func (w window) ratio(misses []float64) float64 {
	missed, left := 0.0, w.reads
	for b := w.blocks - 1; b >= 0 && left > 0; b-- {
		part := min(left/blockOf, 1)
		missed += part * misses[b]
		left -= part * blockOf
	}
	return missed / (w.reads - max(left, 0))
}
