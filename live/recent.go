package live

import (
	"encoding/json"
	"slices"
	"time"
	"weak"

	"github.com/firncache/firn"
)

// window is how many seconds the figures of a frame are about, so that charts, list and flow agree, and
// what is rare has figures.
const window = 5

// recent are the snapshots of a cache at the last frames, with what frames have beside them.
type recent struct {
	taken int // snapshots
	ring  [window + 1]snapshot
	curve json.RawMessage
	twice string // what twice the RAM would bring, in two words
	marks marks
}

// source is a cache and its name.
type source struct {
	name  string
	cache weak.Pointer[firn.Cache]
}

// last is the latest snapshot, next the room for another one.
func (r *recent) last() *snapshot { return &r.ring[(r.taken+window)%len(r.ring)] }
func (r *recent) next() *snapshot { return &r.ring[r.taken%len(r.ring)] }

// advance makes next the last, and returns the snapshot at which the window begins.
func (r *recent) advance() (first *snapshot) {
	now := r.next()
	if now.inside.Closed { // it does nothing any more
		r.taken++
		return now
	}
	for i := max(r.taken-window, 0); i < r.taken; i++ {
		if first = &r.ring[i%len(r.ring)]; first.at.Before(now.at) { // the clock may have been set back
			break
		}
	}
	r.taken++
	return first
}

// collect takes a snapshot of a cache, and fills what a frame says of it.
func (r *recent) collect(from source, at time.Time, out *cache, withCurve bool) {
	before, now, of := r.last(), r.next(), from.cache.Value()
	if now.take(of, at); now.inside.Closed && before.stats.RAM.Bytes > 0 {
		now.stand(before)
	}
	if withCurve && !now.inside.Closed {
		curve := of.Curve()
		r.curve, r.twice = nil, twice(curve.RAM.Points)
		if b, err := json.Marshal(curve); err == nil { // it may have figures for which JSON has no words
			r.curve = b
		}
		out.Curve = r.curve
	}
	r.marks.add(before, now)
	out.Name, out.Twice, out.Marks = from.name, r.twice, slices.Clone(r.marks)
	out.fill(between(r.advance(), now))
}
