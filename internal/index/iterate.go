package index

import "iter"

// Pin keeps the table from shrinking until Unpin, and returns the number of
// buckets that Under can be asked about meanwhile.
func (t *Table) Pin() (buckets uint32) {
	t.pins++
	return t.buckets()
}

// Unpin undoes one Pin.
func (t *Table) Unpin() { t.pins-- }

// Under yields the locations of all entries that were, or would have been, in
// bucket j when the table had that many buckets. The caller holds the lock.
func (t *Table) Under(j, buckets uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) { t.under(j, buckets, yield) }
}

func (t *Table) under(j, buckets uint32, yield func(uint32) bool) bool {
	if j >= t.buckets() { // Clear came between
		return true
	}
	for b := t.bucket(j); b != nil; b = t.Next(b) {
		for m := b.Used(); m != 0; {
			if !yield(b.Location(m.Next())) {
				return false
			}
		}
	}
	// The buckets split from j since: j with one higher bit set, and theirs.
	for top := uint32(1); top != 0 && top < t.buckets(); top <<= 1 {
		child := j | top
		if top > j && child >= buckets && child < t.buckets() && !t.under(child, buckets, yield) {
			return false
		}
	}
	return true
}
