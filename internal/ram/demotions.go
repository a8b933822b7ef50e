package ram

import "slices"

// pendingDemotion is a long record on its way to the lower tier. It belongs to its
// shard, under the shard's lock.
type pendingDemotion struct {
	hash  uint64
	off   uint64 // where it lies; 0 once it has died
	to    Descent
	stays bool // it is to live here as well; otherwise the drain wants it out
	done  bool // it lives in the lower tier
}

// demotions are a shard's, in the order in which they were begun.
type demotions []*pendingDemotion

// at is the demotion of the record at off, nil if it has none.
func (l demotions) at(off uint64) *pendingDemotion {
	for _, d := range l {
		if d.off == off {
			return d
		}
	}
	return nil
}

// died is called when no entry names a record at off any more.
func (l demotions) died(off uint64) {
	if d := l.at(off); d != nil {
		d.off = 0
	}
}

// allDied is died for all records.
func (l demotions) allDied() {
	for _, d := range l {
		d.off = 0
	}
}

// holdDrain reports whether records that are on their way keep the segment from
// being released that is being drained.
func (l demotions) holdDrain() bool {
	return slices.ContainsFunc(l, func(d *pendingDemotion) bool { return d.off != 0 && !d.stays })
}

// leaving reports whether records are on their way that are not to stay, or were and
// have died.
func (l demotions) leaving() bool {
	return slices.ContainsFunc(l, func(d *pendingDemotion) bool { return !d.stays })
}

// demoteResult is what has become of a record that was offered to the tier below.
type demoteResult uint8

const (
	rejected demoteResult = iota
	demoted               // it lives there
	pending
)
