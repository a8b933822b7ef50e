package whatif

// deadlines are those of some keys: in ticks since the table's base, rounded up, 0 for never. They take a
// quarter of a simulation's memory, so that there are none before a record has one.
type deadlines []uint32

func (d deadlines) of(i uint16) uint32 {
	if d == nil {
		return 0
	}
	return d[i]
}

func (d deadlines) set(i uint16, deadline uint32) {
	if d != nil {
		d[i] = deadline
	}
}

// newDeadlines are those of n keys, if the keys are to have any.
func newDeadlines(n int, expires bool) deadlines {
	if !expires {
		return nil
	}
	return make(deadlines, n)
}

// tick is the unit of deadlines, in milliseconds.
const tick = 1 << 8
