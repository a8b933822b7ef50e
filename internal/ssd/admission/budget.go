package admission

import (
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
)

// budget keeps the tier's writes to its device within so many bytes a day. It
// is a token bucket that a day's budget fills and that a day fills again: within
// any 24 hours no more is admitted than twice the budget, within n days no more
// than n+1 times. A few writes that cannot be refused in time come on top:
// the buffers, the lists of their segments, the superblock, and Close's
// snapshot. All of it is counted, and taken from later writes.
//
// While more is offered than may be written, admission is by chance, so that a
// record which is offered often gets in sooner. The chance is chosen to spend in two
// minutes the bytes that the bucket holds above a floor. So the level finds its place
// above the floor by itself, however much is written for each byte that is admitted.
// Records that have proved their worth have a lower floor: they are first, and the
// others get the rest.
//
// It has no goroutine, and is safe for concurrent use.
type budget struct {
	day int64        // bytes; 0: no limit
	now func() int64 // milliseconds since 1970

	left    atomic.Int64         // bytes in the bucket; below 0: owed
	fresh   atomic.Int64         // bytes written since the last update
	unsaved atomic.Int64         // bytes written since the state was last encoded
	next    atomic.Int64         // when an update is due
	offered [worths]atomic.Int64 // bytes since then
	taken   atomic.Int64         // of these
	chance  [worths]atomic.Int64 // of certain
	refused atomic.Uint64        // records

	mu     sync.Mutex                // a leaf; who finds it taken in refresh goes on without
	at     int64                     // of the last update
	since  int64                     // when the first was
	demand [worths]float64           // bytes offered a millisecond
	rates  rates                     // of the last hour
	hours  [format.BudgetHours]int64 // bytes written in each of the last hours: see slotOf
}

// rates are bytes a millisecond.
type rates struct{ written, offered, taken float64 }

// worth describes a record that is offered.
type worth uint8

const (
	unproven worth = iota // nothing
	proven                // it was read, or offered before
	leaving               // Close saves it: as long as anything is left, it gets in
	worths
)

const certain = 1 << 32 // of a chance

// Times, in milliseconds.
const (
	hourMillis      = 60 * 60 * 1000
	dayMillis       = 24 * hourMillis
	budgetWindow    = 1000          // between two updates, at least
	budgetHorizon   = 2 * 60 * 1000 // in which the bytes above the floor are spent
	budgetSmoothing = 10_000        // of the demand
)

func (b *budget) Init(bytesADay int64, now func() int64) {
	b.day, b.now = bytesADay, now
	b.left.Store(b.day)
	b.unsaved.Store(b.lease())
	b.at = max(now(), 0)
	b.since = b.at
	b.next.Store(b.at + budgetWindow)
	for w := range b.chance {
		b.chance[w].Store(certain)
	}
}

// floor is the level down to which records of some worth may be written.
func (b *budget) floor(w worth) int64 {
	switch w {
	case unproven:
		return b.day / 4
	case proven:
		return b.day / 16
	}
	return 0
}

// Wrote counts bytes that are written to any file of the tier.
func (b *budget) Wrote(n int) {
	b.refresh()
	b.left.Add(-int64(n))
	b.fresh.Add(int64(n))
	b.unsaved.Add(int64(n))
}

// Admit decides about a record of so many bytes that is offered.
func (b *budget) Admit(w worth, hash uint64, bytes int) bool {
	if b.day == 0 {
		return true
	}
	b.refresh()
	n := b.offered[w].Add(int64(bytes))
	if b.left.Load() > b.floor(w) && int64(record.Scramble(hash+uint64(n))>>32) < b.chance[w].Load() {
		b.taken.Add(int64(bytes))
		return true
	}
	b.refused.Add(1)
	return false
}

// short reports whether not every record is let in.
func (b *budget) short() bool { return b.day > 0 && b.chance[unproven].Load() < certain }

// MayRewrite reports whether there is anything left for writing a record anew that
// the log has already.
func (b *budget) mayRewrite() bool {
	if b.day == 0 {
		return true
	}
	b.refresh()
	return b.left.Load() > 0
}

// refresh updates the figures that depend on time, now and then.
func (b *budget) refresh() {
	now := b.now()
	// A clock that was set back is noticed too.
	if next := b.next.Load(); now < next && now > next-dayMillis || !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	b.update(now)
}

// update brings the budget to a time, at least to 1970. A clock that goes back
// stands still here until it is where it was, or, if that is a day or more away,
// goes on from there. The caller holds mu.
func (b *budget) update(now int64) {
	now = max(now, 0)
	if now <= b.at-dayMillis {
		b.hours = [format.BudgetHours]int64{}
		b.at, b.since = now, now
	}
	passed := now - b.at
	if passed < budgetWindow {
		b.next.Store(b.at + budgetWindow)
		return
	}
	b.fill(passed)
	written, taken, all := b.fresh.Swap(0), b.taken.Swap(0), int64(0)
	for w := range b.demand {
		offered := b.offered[w].Swap(0)
		all += offered
		b.demand[w] += (float64(offered)/float64(passed) - b.demand[w]) * min(1, float64(passed)/budgetSmoothing)
		b.chance[w].Store(b.chanceOf(worth(w)))
	}
	b.addToHour(now, written)
	weight := min(1, float64(passed)/float64(min(hourMillis, now-b.since)))
	b.rates.written += (float64(written)/float64(passed) - b.rates.written) * weight
	b.rates.offered += (float64(all)/float64(passed) - b.rates.offered) * weight
	b.rates.taken += (float64(taken)/float64(passed) - b.rates.taken) * weight
	b.at = now
	b.next.Store(now + budgetWindow)
}

// fill pours in the budget of some milliseconds.
func (b *budget) fill(passed int64) {
	gain := float64(b.day) * float64(passed) / dayMillis
	room := b.day - b.left.Load() // or more, by the time it is used
	b.left.Add(int64(min(gain, float64(room))))
}

// addToHour remembers in which hour bytes were written.
func (b *budget) addToHour(now, written int64) {
	for h := max(b.at, now-dayMillis) / hourMillis; h < now/hourMillis; h++ {
		b.hours[hourSlot((h+1)*hourMillis)] = 0
	}
	b.hours[hourSlot(now)] += written
}

// hourSlot is the place of the hour that a time is in.
func hourSlot(now int64) int64 { return now / hourMillis % format.BudgetHours }

// chanceOf is the chance that spends the bytes above the floor in budgetHorizon.
func (b *budget) chanceOf(w worth) int64 {
	above := float64(b.left.Load() - b.floor(w))
	if w == leaving || b.demand[w]*budgetHorizon <= above {
		return certain
	}
	return int64(max(0, above/(b.demand[w]*budgetHorizon)*certain))
}

// budgetStats are the figures of a budget: see Stats.
type budgetStats struct {
	Day, Written, Forecast int64
	Admitted               float64
	Refused                uint64
}

func (b *budget) Stats() budgetStats {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	return budgetStats{
		Day: b.day, Written: b.writtenInDay(), Forecast: int64(b.rates.written * dayMillis),
		Admitted: b.admitted(), Refused: b.refused.Load(),
	}
}

// writtenInDay counts the bytes written in this hour and the 23 before. The caller holds
// mu.
func (b *budget) writtenInDay() int64 {
	sum := b.fresh.Load()
	for _, n := range b.hours {
		sum += n
	}
	return sum
}

// admitted is the share of the bytes offered that got in. The caller holds mu.
func (b *budget) admitted() float64 {
	if b.rates.offered == 0 {
		return 1
	}
	return b.rates.taken / b.rates.offered
}

// A process that dies cannot report the bytes that it wrote since it last did. So the
// state says that a lease more was written than was. It is due to be written anew
// when half of the lease is, and before the first write of each process.
const (
	leaseShare = 256 // of a day's budget
	minLease   = 64 << 10
)

func (b *budget) lease() int64 { return max(b.day/leaseShare, minLease) }

// Due reports whether the state ought to be written.
func (b *budget) Due() bool { return b.day > 0 && b.unsaved.Load() >= b.lease()/2 }
