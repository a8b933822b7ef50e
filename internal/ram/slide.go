package ram

// Sliding deadlines: a read that finds a record moves its deadline, so that it expires
// Config.Slide after the last read. So that not every read is a write, a deadline moves
// only if that makes it later by more than 1/SlideParts of Slide. Only even deadlines
// move: an odd one was chosen for its value.
//
// A read learns of it where it compares the deadline with the coarse time: that runs ahead,
// by Slide less the part, in a tier that slides. So a record that needs nothing yet is far
// from its deadline, and read as any other; one that is near is left to Tier.get.
//
//	read       may move again                    deadline
//	 |--- 1/16 ----|---------------------------------|
//	               |<--- the coarse time's lead ---->|

// Slide is the deadline that a read gives to a live record with this one, if it moves.
func (t *Tier) Slide(deadline int64) (to int64, moves bool) {
	if t.slides.life == 0 || deadline <= 0 || deadline&1 != 0 || !t.clock.near(deadline) {
		return deadline, false
	}
	now := t.clock.now()
	to = (now + t.slides.life + 1) &^ 1
	if deadline <= now || to-deadline <= t.slides.slack+1 {
		return deadline, false
	}
	return to, true
}

// slide moves the deadline of the key's record after a read of it, and returns what it is
// then. It takes no segments: a record that is being demoted in parts keeps its deadline.
func (t *Tier) slide(hash uint64, key []byte, deadline int64) int64 {
	to, moves := t.Slide(deadline)
	if !moves {
		return deadline
	}
	return t.SlideTo(hash, key, deadline, to)
}

// SlideTo is slide to a given, later deadline.
func (t *Tier) SlideTo(hash uint64, key []byte, deadline, to int64) int64 {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	if !ok || s.closed || t.deadline(&r) != deadline || !s.movable(&r, to) { // which was moved meanwhile
		return deadline
	}
	flags, _ := s.flagsOfTouched(&r, deadline, to) // later: nothing is invalidated
	s.setDeadline(&r, to, flags)
	if !s.watches.None() {
		s.watches.Touch(hash, key, to)
	}
	return to
}
