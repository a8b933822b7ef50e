package clock

import "sync/atomic"

// suspension is how long the machine has been suspended, in milliseconds: by how much the
// clock of the machine, which goes on then, is ahead of the monotonic one, which does not.
type suspension struct {
	total atomic.Int64
	look  func() (machine, monotonic int64) // read in this order: the difference is never too large
}

var suspended = newSuspension(lookAtClocks)

func newSuspension(look func() (machine, monotonic int64)) *suspension {
	s := &suspension{look: look}
	s.note()
	return s
}

// note looks whether the machine has been suspended since the last time.
func (s *suspension) note() {
	machine, monotonic := s.look()
	for ahead, last := machine-monotonic, s.total.Load(); ahead > last; last = s.total.Load() {
		if s.total.CompareAndSwap(last, ahead) {
			return
		}
	}
}

// Machine is the time of the machine since it was started, in milliseconds, suspended or
// not: the same for all its processes, and never set. It is 0 where the system has no such
// clock.
func Machine() int64 {
	machine, _ := lookAtClocks()
	return machine
}
