package index

import (
	"cmp"
	"slices"

	"github.com/firncache/firn/internal/ssd/format"
)

// Survivors appends those of a shard's entries to kept that are there, in order. It
// reports whether those are the entries of the table, each in its place: if not, it was
// being changed when the process died, or has entries that are not there.
func (s *Shard) Survivors(kept []uint64, there func(format.Location) bool) (_ []uint64, whole bool) {
	if s.capacity < MinCapacity || s.capacity+shardSlack > len(s.all) || s.head.Moving.Load() != 0 {
		return kept, false
	}
	whole = true
	next, last := 0, int64(-1)
	for at, w := range s.all[:s.capacity+shardSlack] {
		e := format.Entry(w)
		switch fp := int64(s.Fingerprint(e)); {
		case e == 0:
		case s.Location(e) == 0 || !there(s.Location(e)):
			whole = false
		default:
			whole = whole && fp > last && at == max(s.home(uint64(fp)), next)
			last, next = fp, at+1
			kept = append(kept, w)
		}
	}
	if !whole {
		kept = s.once(kept)
	}
	return kept, whole
}

// once sorts entries, and keeps one of each fingerprint.
func (s *Shard) once(entries []uint64) []uint64 {
	compare := func(a, b uint64) int {
		return cmp.Compare(s.Fingerprint(format.Entry(a)), s.Fingerprint(format.Entry(b)))
	}
	slices.SortStableFunc(entries, compare)
	return slices.CompactFunc(entries, func(a, b uint64) bool { return compare(a, b) == 0 })
}
