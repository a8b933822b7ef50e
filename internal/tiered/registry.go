package tiered

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/firncache/firn/internal/registry"
)

// numbers is where the registry is: in the SSD tier's memory, so that it outlives the
// process as that tier's index does; with RAM alone on the heap, once it is needed.
type numbers struct {
	table     atomic.Pointer[registry.Table]
	heapSlots int // of the table on the heap
}

// openNumbers takes the SSD tier's registry.
func (s *Store) openNumbers(ramBytes int64) {
	if s.ssd != nil {
		s.numbers.table.Store(s.ssd.tier.Registry())
	}
	s.numbers.heapSlots = registry.SlotsFor(ramBytes / registry.Share)
}

// registry is the table. On the heap it is paid for with a part of the RAM budget, for
// which records may have to leave; of a budget that has nothing to spare it takes
// nothing.
func (s *Store) registry() *registry.Table {
	if t := s.numbers.table.Load(); t != nil {
		return t
	}
	t := registry.New(make([]byte, registry.Bytes(s.numbers.heapSlots)), rand.Uint64())
	if !s.numbers.table.CompareAndSwap(nil, t) {
		return s.numbers.table.Load()
	}
	_ = s.ram.Reserve(registry.Memory(t.Slots()))
	return t
}

// heapNumbers is how many bytes the registry takes on the heap.
func (s *Store) heapNumbers() int64 {
	if t := s.numbers.table.Load(); t != nil && s.ssd == nil {
		return registry.Memory(t.Slots())
	}
	return 0
}

// OpenNumbers makes the registry ready, for which with RAM alone records may have to
// leave. Until then other calls may do that: with OnEvict told, so under no lock.
func (s *Store) OpenNumbers() {
	s.registry()
	s.keepAlive()
}

// Number is the number of an id. It reports false if the registry knows none.
func (s *Store) Number(id registry.ID) (number uint64, ok bool) {
	if t := s.numbers.table.Load(); t != nil {
		number, ok = t.Get(id)
	}
	s.keepAlive()
	return number, ok
}

// NumberOrDraw is the number of an id. One without gets one.
func (s *Store) NumberOrDraw(id registry.ID) uint64 {
	n := s.registry().GetOrDraw(id)
	s.keepAlive()
	return n
}

// BumpNumber gives an id another number. When it returns nil, no later process finds
// the one before. It fails with ErrClosed: then both are possible.
func (s *Store) BumpNumber(id registry.ID) (uint64, error) {
	if s.Closed() {
		return 0, ErrClosed
	}
	n := s.registry().Bump(id)
	// Close saves the registry after it has closed RAM: if that is yet to come, it will
	// have the number.
	closed := s.Closed()
	s.keepAlive()
	return n, errIfClosed(!closed)
}

// HoldNumber is NumberOrDraw of an id that is in use until ReleaseNumber: see
// registry.Table.Hold. It fails with ErrClosed.
func (s *Store) HoldNumber(id registry.ID) (uint64, error) {
	n := s.registry().Hold(id)
	closed := s.Closed()
	s.keepAlive()
	return n, errIfClosed(!closed)
}

// ReleaseNumber ends HoldNumber.
func (s *Store) ReleaseNumber(id registry.ID) {
	s.registry().Release(id)
	s.keepAlive()
}

// Closed reports whether the store is closed.
func (s *Store) Closed() bool {
	closed := s.ram.Closed()
	s.keepAlive()
	return closed
}
