package ram

// A page that is touched for the first time costs its zeroing, half a
// millisecond for a huge one. The prefaulter is a goroutine that keeps the
// segments which will be used next ahead of that, so that no Set waits for it.

// prefaultAhead is how far in bytes it runs ahead of use: a 32nd of the budget,
// up to 8 MiB.
func (t *Tier) prefaultAhead() int64 { return min(t.bytes.Load()/32, 8<<20) }

// prefaultStep is how much it makes ready at once, in bytes: one huge page.
const prefaultStep = 2 << 20

func (t *Tier) runPrefaulter() {
	for {
		select {
		case <-t.janitor.quit:
			return
		case <-t.pool.Wake:
		}
		for t.prefaultNext() {
		}
	}
}

// prefaultNext makes one step ready, and reports whether there was one.
func (t *Tier) prefaultNext() bool {
	t.janitor.sweeping.Lock()
	defer t.janitor.sweeping.Unlock()
	from, to := t.pool.NextToPrefault(uint32(t.prefaultAhead()>>t.segShift), prefaultStep>>t.segShift)
	if from == to || t.closed.Load() {
		return false
	}
	// A failure is no harm: the pages are then made ready on first use.
	_ = t.region.Prefault(uint64(from)<<t.segShift, uint64(to-from)<<t.segShift)
	t.pool.PrefaultDone(to)
	return true
}
