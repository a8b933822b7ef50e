package shares

import (
	"encoding/binary"
	"maps"
	"sync"
	"sync/atomic"
)

// Shares are those of a log. The zero value has none, which is all that Of looks at then.
type Shares struct {
	table atomic.Pointer[map[uint64]*Share] // by number; replaced when it changes

	mu sync.Mutex // of changes; before Share.mu

	charging atomic.Bool // no lock: see quotas.Accounts
	charged  int64       // bytes
}

// numberLen is how many bytes of a key are a number.
const numberLen = 8

// Of is the share of a key, nil if it has none.
func (s *Shares) Of(key []byte) *Share {
	table := s.table.Load()
	if table == nil || len(key) < numberLen {
		return nil
	}
	return (*table)[binary.LittleEndian.Uint64(key)]
}

// Add sets a share of so many bytes of a log of slots; inUse reports whether a slot holds a
// segment. No key has the share before Begin.
func (s *Shares) Add(bytes int64, slots int, inUse func(slot int) bool) *Share {
	share := &Share{max: bytes, slots: make([]int64, slots)}
	for i := range share.slots {
		if inUse(i) {
			share.slots[i] = unknown
		}
	}
	return share
}

// Begin says that keys of a share begin with a number.
func (s *Shares) Begin(number uint64, share *Share) {
	s.change(func(table map[uint64]*Share) { table[number] = share })
}

// End says that those which begin with a number are no share's any more.
func (s *Shares) End(number uint64) {
	s.change(func(table map[uint64]*Share) { delete(table, number) })
}

// Remove ends a share.
func (s *Shares) Remove(share *Share) {
	s.change(func(table map[uint64]*Share) {
		maps.DeleteFunc(table, func(_ uint64, of *Share) bool { return of == share })
	})
}

// change replaces the table by what f makes of a copy.
func (s *Shares) change(f func(map[uint64]*Share)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	table := map[uint64]*Share{}
	if old := s.table.Load(); old != nil {
		table = maps.Clone(*old)
	}
	f(table)
	if len(table) == 0 {
		s.table.Store(nil)
		return
	}
	s.table.Store(&table)
}

// each calls f for each share, perhaps more than once, until it returns false.
func (s *Shares) each(f func(*Share) bool) {
	if table := s.table.Load(); table != nil {
		for _, share := range *table {
			if !f(share) {
				return
			}
		}
	}
}

// Freed says that the segment in a slot is none any more, before another one may be.
func (s *Shares) Freed(slot int) { s.Settle(slot, func(*Share) int64 { return 0 }) }

// Emptied says that the log has no records.
func (s *Shares) Emptied() {
	s.each(func(share *Share) bool {
		for slot := range share.slots {
			share.change(slot, func(int64) int64 { return 0 })
		}
		return true
	})
}

// Unsettled is a slot whose segment some share has not counted.
func (s *Shares) Unsettled() (slot int, ok bool) {
	s.each(func(share *Share) bool {
		share.mu.Lock()
		defer share.mu.Unlock()
		for i, bytes := range share.slots {
			if bytes == unknown {
				slot, ok = i, true
			}
		}
		return !ok
	})
	return slot, ok
}

// Settle sets how many bytes the shares have of the segment in a slot.
func (s *Shares) Settle(slot int, bytes func(*Share) int64) {
	s.each(func(share *Share) bool {
		share.change(slot, func(int64) int64 { return bytes(share) })
		return true
	})
}

// Full is a share above its limit that accept takes; nil if there is none.
func (s *Shares) Full(accept func(*Share) bool) (full *Share) {
	s.each(func(share *Share) bool {
		if share.Full() && accept(share) {
			full = share
		}
		return full == nil
	})
	return full
}

// Charge takes the memory of the shares from a budget, or gives it back, by reserve; of one that
// has nothing to spare it takes nothing. The caller holds no lock. If a call is under way, that does
// it.
func (s *Shares) Charge(reserve func(int64) error) {
	for more := true; more && s.charging.CompareAndSwap(false, true); {
		more = s.chargeOnce(reserve)
	}
}

// chargeOnce is Charge, and reports whether it changed something: then there may be more by now.
func (s *Shares) chargeOnce(reserve func(int64) error) bool {
	defer s.charging.Store(false)
	n := int64(0)
	s.each(func(share *Share) bool {
		n += int64(len(share.slots)) * 8
		return true
	})
	by := n - s.charged
	if by == 0 || reserve(by) != nil {
		return false
	}
	s.charged += by
	return true
}
