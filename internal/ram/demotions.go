package ram

import "slices"

// pendingDemotion is a long record that the lower tier gets in parts. It belongs
// to its shard, under the shard's lock.
type pendingDemotion struct {
	hash  uint64
	off   uint64 // where it lies; 0 once it has died
	to    Transfer
	stays bool // it is to live here as well; otherwise the drain, or a quota, wants it out
	quota bool // which does
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

// holdDrain reports whether one of them keeps the segment from being released that is
// being drained.
func (l demotions) holdDrain() bool {
	return slices.ContainsFunc(l, func(d *pendingDemotion) bool { return d.off != 0 && !d.stays })
}

// leaving reports whether there are demotions of records that are not to stay, those
// included that have died meanwhile.
func (l demotions) leaving() bool {
	return slices.ContainsFunc(l, func(d *pendingDemotion) bool { return !d.stays })
}

// demoteResult is the state of a record that was offered to the lower tier.
type demoteResult uint8

const (
	rejected demoteResult = iota // the lower tier does not have it
	demoted                      // the lower tier has it
	pending                      // it is one of the shard's demotions
)
