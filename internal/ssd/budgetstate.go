package ssd

import "encoding/binary"

// budgetLen is the length of a budget's state in a file.
const budgetLen = 8 * (3 + budgetHours)

// A process that dies does not get to say what it wrote since it last did. So the
// state says that a lease more was written than was. It is due to be written anew
// when half of the lease is, and before the first write of each process.
const (
	leaseShare = 256 // of a day's budget
	leaseLeast = 64 << 10
)

func (b *budget) lease() int64 { return max(b.day/leaseShare, leaseLeast) }

// due reports whether the state ought to be written.
func (b *budget) due() bool { return b.day > 0 && b.unsaved.Load() >= b.lease()/2 }

// encode is the state for the next process. closed says that this one writes
// nothing more.
func (b *budget) encode(closed bool) (state [budgetLen]byte) {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved.Store(0) // before what is left is looked at: rather counted twice than not
	left := b.left.Load()
	if !closed {
		left -= b.lease()
	}
	words := append([]int64{b.day, b.at, left}, b.hours[:]...)
	words[3+slotOf(b.at)] += b.fresh.Load()
	for i, v := range words {
		binary.LittleEndian.PutUint64(state[8*i:], uint64(v))
	}
	return state
}

// decode continues from a state of an earlier process, after init. One that makes
// no sense is not used: the bucket stays full. With another budget than before,
// what is left of the first day is what was not written in the last one.
func (b *budget) decode(state []byte) {
	if len(state) < budgetLen {
		return
	}
	var words [3 + budgetHours]int64
	for i := range words {
		words[i] = int64(binary.LittleEndian.Uint64(state[8*i:]))
	}
	before, at, left, hours := words[0], words[1], words[2], words[3:]
	if before < 0 || at < 0 {
		return
	}
	for _, n := range hours {
		if n < 0 || n > 1<<56 { // the sum must not overflow
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.since = at, at
	copy(b.hours[:], hours)
	if before != b.day {
		left = max(0, b.day-b.writtenInDay())
	}
	b.left.Store(min(max(left, -b.day), b.day))
	b.update(b.now())
	b.since = b.at // the rate is this process's
}
