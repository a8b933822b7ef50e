package shared

import (
	"sync"
	"sync/atomic"
)

// seals are notes that copies were the latest in an epoch: those on the SSD, where nothing is written
// for it. They grow as copies are checked, and are few again in the next epoch of a tier with one slot.
type seals struct {
	table   atomic.Pointer[sealTable]
	growing sync.Mutex
	most    int64                    // seals
	lend    func(change int64) error // of bytes of memory; nil: it does not grow
}

// sealTable is a table of one size: 64-bit sums, each in one of two buckets that follow from it.
type sealTable struct {
	epoch uint64      // of all of them; 0: of several
	alone atomic.Bool // there is no memory for a larger one
	at    []atomic.Uint64
}

const (
	sealWays = 8
	sealSize = 8 // bytes

	// MinSeals is how many notes there is room for from the beginning.
	MinSeals = 1 << 9
)

func (s *seals) init(most int) {
	s.most = int64(most)
	s.table.Store(newSealTable(0, min(MinSeals, max(most, sealWays))))
}

func newSealTable(epoch uint64, size int) *sealTable {
	return &sealTable{epoch: epoch, at: make([]atomic.Uint64, size)}
}

func (t *sealTable) buckets(seal uint64) [2][]atomic.Uint64 {
	mask := uint64(len(t.at)-1) &^ (sealWays - 1)
	a, b := seal>>4&mask, seal>>32&mask
	return [2][]atomic.Uint64{t.at[a : a+sealWays], t.at[b : b+sealWays]}
}

func (t *sealTable) has(seal uint64) bool {
	for _, at := range t.buckets(seal) {
		for i := range at {
			if at[i].Load() == seal {
				return true
			}
		}
	}
	return false
}

// put reports false if there is no place for the seal.
func (t *sealTable) put(seal uint64) bool {
	if t.has(seal) {
		return true
	}
	for _, at := range t.buckets(seal) {
		for i := range at {
			if at[i].CompareAndSwap(0, seal) {
				return true
			}
		}
	}
	return false
}

// force takes the place of another seal.
func (t *sealTable) force(seal uint64) { t.buckets(seal)[0][seal%sealWays].Store(seal) }

func (s *seals) has(seal uint64) bool { return s.table.Load().has(seal) }

// put notes a seal of an epoch. The note may be lost for others': then the copy is checked once more.
func (s *seals) put(seal, epoch uint64) {
	t := s.table.Load()
	if t.epoch != epoch {
		t = s.replace(t, epoch)
	}
	if t.put(seal) {
		return
	}
	if 2*int64(len(t.at)) <= s.most && !t.alone.Load() {
		t = s.replace(t, epoch)
	}
	if !t.put(seal) {
		t.force(seal)
	}
}

// replace makes a table of twice the size, or the first one of an epoch.
func (s *seals) replace(old *sealTable, epoch uint64) *sealTable {
	if !s.growing.TryLock() { // another caller does it, or this one for an OnEvict that lend has called
		return old
	}
	defer s.growing.Unlock()
	if t := s.table.Load(); t != old {
		return t
	}
	size := min(MinSeals, len(old.at))
	if old.epoch == epoch {
		size = 2 * len(old.at)
	}
	if change := sealSize * int64(size-len(old.at)); change != 0 && (s.lend == nil || s.lend(change) != nil) {
		old.alone.Store(true)
		return old
	}
	next := newSealTable(epoch, size)
	if old.epoch == epoch {
		for i := range old.at {
			if seal := old.at[i].Load(); seal != 0 {
				_ = next.put(seal) // a table of twice the size has a place, with few exceptions
			}
		}
	}
	s.table.Store(next)
	return next
}
