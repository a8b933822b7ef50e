package ram

import (
	"github.com/firncache/firn/internal/histogram"
)

// ReadTimes is what lookups in RAM took that were tried for calls of it, now among them: see
// probe. A tier below a MiB has none.
func (t *Tier) ReadTimes() histogram.Histogram {
	p := t.probe
	if p == nil {
		return histogram.Of(histogram.Nanos)
	}
	if keys := p.take(); !t.Closed() {
		t.probeAll(keys)
	}
	return p.times.Snapshot()
}

// probeAll looks keys up. What the clock takes is taken off; a value for which room had to be
// made first does not count.
func (t *Tier) probeAll(keys []probeKey) {
	if len(keys) == 0 {
		return
	}
	p, buf := t.probe, make([]byte, 0, probedBytes)
	own := p.clockCost()
	_, _, _ = t.getRetried(buf, nil, t.Hash(nil), forValue|forTimes) // the code of it comes to the processor
	for i := range keys {
		key := keys[i].bytes[:keys[i].n]
		began := p.clock()
		v, _, out := t.getRetried(buf, key, t.Hash(key), forValue|forTimes)
		took := p.clock() - began
		if out == hit && cap(v) == cap(buf) {
			p.times.Add(took - own)
		}
		buf = v[:0]
	}
}
