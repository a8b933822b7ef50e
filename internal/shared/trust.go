package shared

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Slots is how many slots a cluster has.
const Slots = 1 << slotBits

const (
	slotBits  = 14 // of a stamp
	slotMask  = 1<<slotBits - 1
	epochAt   = 16
	epochMask = 1<<(64-epochAt) - 1
)

// Stamp is an epoch and, in its lowest 14 bits, a slot. 0 is never trusted.
type Stamp uint64

// Shortened, in the stamp of a copy, says that the copy's deadline is an earlier one than that
// of the entry.
const Shortened Stamp = 1 << 15

// alone, in the stamp of a copy that no server has given, says that the bits of the epoch are the
// moment until which the copy is trusted, by Trust's clock, and those of the slot a random number of
// the process: what lies on the SSD is from before, and perhaps by the clock of another boot.
const alone Stamp = 1 << 14

// Slot is the slot of a stamp.
func (s Stamp) Slot() int { return int(s & slotMask) }

// Feed is one epoch of the feed of one server, for all slots that it owns.
type Feed struct {
	epoch uint64                // 48 random bits, not 0: copies outlive the process that stamped them
	until atomic.Int64          // by Trust's clock: until when copies of it are trusted
	of    atomic.Pointer[Trust] // that it is part of, nil before
}

// NewFeed is a new epoch, without trusted copies yet.
func NewFeed() *Feed {
	f := &Feed{epoch: 1 + rand.Uint64N(epochMask)}
	f.until.Store(math.MinInt64)
	return f
}

// Stamp is the stamp of what is read in the epoch.
func (f *Feed) Stamp(slot int) Stamp { return Stamp(f.epoch<<epochAt | uint64(slot)) }

// Extend has copies of the epoch be trusted until a moment of Trust's clock. It must not overlap
// the first SetFeed of the feed.
func (f *Feed) Extend(until int64) {
	t := f.of.Load()
	if t == nil {
		f.until.Store(until)
		return
	}
	t.extended.Add(1)
	f.until.Store(until)
	t.heat()
}

// Until is that moment.
func (f *Feed) Until() int64 { return f.until.Load() }

// Trust says which copies may be an answer without a request to the shared tier. A reader looks
// without a lock; the tier's goroutines change it.
type Trust struct {
	hot      atomic.Uint64 // a stamp
	heating  sync.Mutex    // of changes of hot
	now      atomic.Int64  // in milliseconds, coarse: the tier advances it
	near     int64         // the last milliseconds of trust, in which
	clock    func() int64  // is read instead
	extended atomic.Uint64 // how often a feed was, or was replaced
	feeds    []atomic.Pointer[Feed]
	changes  atomic.Uint64 // how often one was replaced
	salt     atomic.Uint64 // of copies that no server has given: a Stamp
	aloneFor atomic.Int64  // how long such a copy is trusted
	seals    seals         // of copies that were checked
}

// NewTrust is for so many slots, 1 or Slots, and so many notes of checked copies at most, a power of
// two, of 8 bytes: see LendTo.
func NewTrust(slots, seals int) *Trust {
	t := &Trust{feeds: make([]atomic.Pointer[Feed], slots)}
	t.seals.init(seals)
	t.salt.Store(rand.Uint64() & slotMask)
	t.hot.Store(uint64(Shortened))
	t.now.Store(math.MaxInt64) // nothing is trusted before the first Advance
	none := NewFeed()
	for i := range t.feeds {
		t.feeds[i].Store(none)
	}
	return t
}

// SetClock sets a clock that is read in the last milliseconds of trust, before the first SetFeed. The coarse time is late by as long as the goroutine that advances it is kept from
// running; while trust is extended in time, the clock is not read.
func (t *Trust) SetClock(clock func() int64, near time.Duration) {
	t.clock, t.near = clock, near.Milliseconds()
}

// lasts reports whether copies of a feed are trusted now.
func (t *Trust) lasts(f *Feed) bool {
	return t.lastsUntil(f.until.Load())
}

// lastsUntil reports whether a moment has not passed.
func (t *Trust) lastsUntil(until int64) bool {
	now := t.now.Load()
	return now <= until && (until-now >= t.near || t.clock() <= until)
}

// Moment is the present moment of Trust's clock, in milliseconds.
func (t *Trust) Moment() int64 {
	if t.clock == nil {
		return t.now.Load()
	}
	return t.clock()
}

// Salt is for Alone, before the value is made that the copy is to be of.
func (t *Trust) Salt() Stamp { return Stamp(t.salt.Load()) }

// EndAlone ends the trust in copies with a Salt from before it.
func (t *Trust) EndAlone() {
	for {
		salt := t.salt.Load()
		if t.salt.CompareAndSwap(salt, (salt+1)&slotMask) {
			return
		}
	}
}

// Alone is the stamp of a copy of what no server has: it is trusted for so many milliseconds after
// a moment, when there was this Salt. It reports how many are left; with none there is no such
// stamp.
func (t *Trust) Alone(from, life int64, salt Stamp) (s Stamp, left int64) {
	if left = from + life - t.Moment(); left <= 0 || from <= 0 {
		return 0, 0
	}
	t.aloneFor.Store(life)
	return Stamp(from+life)<<epochAt | alone | salt, left
}

// Advance sets the coarse time.
func (t *Trust) Advance(now int64) {
	t.now.Store(now)
	t.heat()
}

// Slots is how many slots there are.
func (t *Trust) Slots() int { return len(t.feeds) }

// Feed is the present epoch of a slot.
func (t *Trust) Feed(slot int) *Feed { return t.feeds[slot].Load() }

// SetFeed begins another epoch of a slot: its copies are suspect from here on.
func (t *Trust) SetFeed(slot int, f *Feed) {
	t.changes.Add(1) // first: who finds the new feed finds the change, too
	f.of.Store(t)
	t.extended.Add(1)
	t.feeds[slot].Store(f)
	t.heat()
}

// Mark is taken before a copy is read, and Since called when Holds has said that it is trusted.
func (t *Trust) Mark() uint64 { return t.extended.Load() }

// Since reports whether trust was given again since a Mark. Then the copy may have been read
// while nothing was trusted, before a push that has come by now: it has to be read again.
func (t *Trust) Since(mark uint64) bool { return t.extended.Load() != mark }

// Changes is how often SetFeed was called. While it stays the same no invalidation was lost.
func (t *Trust) Changes() uint64 { return t.changes.Load() }

// Holds reports whether a copy with this stamp is trusted.
func (t *Trust) Holds(s Stamp) bool {
	if s&alone != 0 {
		until := int64(s >> epochAt)
		return s&slotMask == t.Salt() && until-t.Moment() <= t.aloneFor.Load() && t.lastsUntil(until)
	}
	slot := s.Slot()
	if slot >= len(t.feeds) {
		return false
	}
	f := t.feeds[slot].Load()
	return f.epoch == uint64(s>>epochAt) && t.lasts(f)
}

// Hot is the stamp of copies that are trusted now, where there is one slot and the end of trust
// is not near; another stamp, which no copy has, otherwise. A copy that is read after it was
// taken, and has it, is trusted: it was no older than the bound when the reader began.
func (t *Trust) Hot() Stamp { return Stamp(t.hot.Load()) }

// heat sets Hot after a change of what it depends on.
func (t *Trust) heat() {
	if len(t.feeds) > 1 {
		return
	}
	t.heating.Lock() // the last caller sees the last change
	defer t.heating.Unlock()
	f, now, hot := t.feeds[0].Load(), t.now.Load(), Shortened
	if until := f.until.Load(); now <= until && until-now >= t.near {
		hot = f.Stamp(0)
	}
	t.hot.Store(uint64(hot))
}

// HoldsCopy is Holds of a copy by the hash of its key, also if it was stamped again.
func (t *Trust) HoldsCopy(hash uint64, v Version, s Stamp) bool {
	if t.Holds(s) {
		return true
	}
	_, ok := t.restamped(hash, v, s.Slot())
	return ok
}

// TrustedAs is HoldsCopy that returns the stamp with which the copy is trusted.
func (t *Trust) TrustedAs(hash uint64, v Version, s Stamp) (Stamp, bool) {
	if t.Holds(s) {
		return s, true
	}
	return t.restamped(hash, v, s.Slot())
}

// restamped is the stamp that a copy was given in the present epoch of its slot, if any.
func (t *Trust) restamped(hash uint64, v Version, slot int) (Stamp, bool) {
	if slot >= len(t.feeds) {
		return 0, false
	}
	f := t.feeds[slot].Load()
	if !t.lasts(f) {
		return 0, false
	}
	s := f.Stamp(slot)
	return s, t.seals.has(sealOf(hash, v, s))
}

// Restamp notes that a copy of this version was the latest in the epoch of a stamp. The copy itself,
// which may lie on the SSD, stays as it is.
func (t *Trust) Restamp(hash uint64, v Version, s Stamp) {
	epoch := uint64(s >> epochAt)
	if len(t.feeds) > 1 {
		epoch = 0 // of other slots there are others
	}
	t.seals.put(sealOf(hash, v, s), epoch)
}

// SealBytes is the memory of the notes of checked copies.
func (t *Trust) SealBytes() int64 { return sealSize * int64(len(t.seals.table.Load().at)) }

// LendTo has notes of checked copies grow into memory that lend gives, or gets back if the change is
// negative, as far as NewTrust said. It is called before the first Restamp.
func (t *Trust) LendTo(lend func(change int64) error) { t.seals.lend = lend }

// sealOf mixes what a note says into 64 bits: another copy has them once in 2^64.
func sealOf(hash uint64, v Version, s Stamp) uint64 {
	x := hash
	for _, y := range [...]uint64{uint64(v), uint64(s)} {
		x = (x ^ y) * 0x9e3779b97f4a7c15 // the finalizer of splitmix64 follows, for each
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
