package index

import (
	"cmp"
	"math/bits"
	"slices"
)

// A walk over a table goes by positions: the position of an entry is its key's hash with
// the bits in reverse. A bucket has the entries of a range of positions, of which a split
// gives the upper half away. So a walk needs to remember no more than the position that it
// has come to, whether the table grows or shrinks meanwhile.

// Placed is an entry as a walk meets it.
type Placed struct {
	Position uint64
	Location uint32
}

// Hash is the hash of the entry's key.
func (p Placed) Hash() uint64 { return bits.Reverse64(p.Position) }

// Position is where a walk meets the entries of keys with this hash, whatever the table's size.
func Position(hash uint64) uint64 { return bits.Reverse64(hash) }

// From lists the entries at a position and behind it, in rising order, as far as they lie
// in one bucket. next is the position where the next bucket begins, 0 behind the last one.
// The caller holds the lock; the list is lent until the next call.
func (t *Table) From(at uint64) (found []Placed, next uint64) {
	j := home(bits.Reverse64(at), t.Buckets())
	s, _ := t.collect(j)
	found = s.placed[:0]
	for i, h := range s.hashes {
		if p := bits.Reverse64(h); p >= at {
			found = append(found, Placed{p, s.locs[i]})
		}
	}
	slices.SortFunc(found, func(a, b Placed) int { return cmp.Compare(a.Position, b.Position) })
	s.placed = found
	rest := 64 - t.depth(j)
	return found, (at>>rest + 1) << rest
}

// depth is how many bits of their hashes the entries of a bucket share.
func (t *Table) depth(j uint32) int {
	all := bits.Len32(t.Buckets() - 1)
	if top := uint32(1) << all >> 1; j < top && j|top >= t.Buckets() { // it has yet to be split
		return all - 1
	}
	return all
}
