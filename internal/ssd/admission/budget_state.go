package admission

import "github.com/firncache/firn/internal/ssd/format"

// State returns the state that the next process begins with. closed says that this one writes
// nothing more.
func (b *budget) State(closed bool) format.BudgetState {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved.Store(0) // before the rest is looked at: rather counted twice than not
	left := b.left.Load()
	if !closed {
		left -= b.lease()
	}
	s := format.BudgetState{Day: b.day, At: b.at, Left: left, Hours: b.hours}
	s.Hours[hourSlot(b.at)] += b.fresh.Load()
	return s
}

// Resume continues from a state of an earlier process, after init. With another
// budget than before, the rest of the first day is the part that was not written in the
// last one.
func (b *budget) Resume(s format.BudgetState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.since, b.hours = s.At, s.At, s.Hours
	left := s.Left
	if s.Day != b.day {
		left = max(0, b.day-b.writtenInDay())
	}
	b.left.Store(min(max(left, -b.day), b.day))
	b.update(b.now())
	b.since = b.at // the rate is this process's
}
