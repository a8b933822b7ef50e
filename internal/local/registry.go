package local

import (
	"math/rand/v2"

	"github.com/firncache/firn/internal/registry"
)

// openRegistry takes the SSD tier's registry.
func (s *Store) openRegistry(ramBytes int64) {
	s.registry = &registryOwner{places: registry.PlacesFor(ramBytes / registry.Share)}
	if s.ssd != nil {
		s.registry.table.Store(s.ssd.tier.Registry())
	}
}

// OpenRegistry makes the registry ready, without a shared tier. With RAM alone it is paid for
// with a part of the RAM budget, for which records may have to leave, and OnEvict is called: so it
// is called under no lock. Of a budget that has nothing to spare it takes nothing.
func (s *Store) OpenRegistry() {
	if o := s.registry; o.table.Load() == nil {
		t := registry.Alloc(o.places, rand.Uint64())
		if o.own.CompareAndSwap(nil, t) {
			_ = s.RAM.Reserve(o.bytes())
			o.table.Store(t)
		} else {
			t.Free()
			o.table.Store(o.own.Load())
		}
	}
	s.KeepAlive()
}

// Clock is what a value with tags notes before it is made.
func (s *Store) Clock() uint64 {
	clock := s.registry.table.Load().Clock()
	s.KeepAlive()
	return clock
}

// AppendNote appends the note of a value with tags: see registry.Table.
func (s *Store) AppendNote(dst []byte, clock uint64, tags []registry.ID) []byte {
	dst = s.registry.table.Load().AppendNote(dst, clock, tags)
	s.KeepAlive()
	return dst
}

// RenewNote is AppendNote with the tags of a note.
func (s *Store) RenewNote(dst []byte, clock uint64, note []byte) []byte {
	dst = s.registry.table.Load().Renew(dst, clock, note)
	s.KeepAlive()
	return dst
}

// JudgeNote judges the note of a value. One that is past its grace is obsolete.
func (s *Store) JudgeNote(note []byte) registry.Verdict {
	v, since := s.registry.table.Load().Judge(note)
	if v == registry.Expired && isPastGrace(since, s.now(), s.grace) {
		v = registry.Obsolete
	}
	s.KeepAlive()
	return v
}

// NoteJudge is JudgeNote for those whom the store outlives, and which do not keep it: the
// tiers.
func (s *Store) NoteJudge() func(note []byte) (v registry.Verdict, since int64) {
	o := s.registry
	return func(note []byte) (registry.Verdict, int64) { return o.table.Load().Judge(note) }
}

// InvalidateTag makes every value obsolete that was noted with a tag. It fails with ErrClosed:
// then both are possible.
func (s *Store) InvalidateTag(id registry.ID) error {
	return s.changeRegistry(func(t *registry.Table) { t.Invalidate(id) })
}

// ExpireTag makes every value stale that was noted with a tag, from now on; those that were made so for
// so many milliseconds, or more, obsolete. It fails as InvalidateTag does.
func (s *Store) ExpireTag(id registry.ID, grace int64) error {
	return s.changeRegistry(func(t *registry.Table) { t.Expire(id, s.now(), grace) })
}

// ClearNamespace gives a namespace another generation. When it returns nil, no later process
// finds the one before. It fails as InvalidateTag does.
func (s *Store) ClearNamespace(id registry.ID) (generation uint64, err error) {
	err = s.changeRegistry(func(t *registry.Table) { generation = t.Clear(id) })
	return generation, err
}

// changeRegistry changes the registry unless the store is closed. Close saves it after it has
// closed RAM: if that is yet to come, it will have the change.
func (s *Store) changeRegistry(change func(t *registry.Table)) error {
	if s.Closed() {
		return ErrClosed
	}
	change(s.registry.table.Load())
	return errIfClosed(!s.Closed())
}

// Generation is that of a namespace, as this process and the next find it. It fails with
// ErrClosed.
func (s *Store) Generation(id registry.ID) (uint64, error) {
	g := s.registry.table.Load().Generation(id)
	return g, errIfClosed(!s.Closed())
}

// Closed reports whether the store is closed.
func (s *Store) Closed() bool {
	closed := s.RAM.Closed()
	s.KeepAlive()
	return closed
}
