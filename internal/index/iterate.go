package index

import "iter"

// Buckets is the number of buckets now, for Under.
func (t *Table) Buckets() uint32 { return t.buckets() }

// Under yields the locations of all entries that were, or would have been, in
// bucket j when the table had that many buckets. The caller holds the lock, and
// does not change the table before it has them all. Over the numbers of buckets
// from 0 up that is every entry once, however the table grows or shrinks meanwhile.
func (t *Table) Under(j, buckets uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if t.buckets() < buckets {
			t.among(j, buckets, yield)
		} else {
			t.under(j, buckets, yield)
		}
	}
}

// among is Under once the table is smaller: the entries share a bucket with
// others.
func (t *Table) among(j, buckets uint32, yield func(uint32) bool) {
	s, _ := t.collect(home(uint64(j), t.buckets()))
	for i, h := range s.hashes {
		if home(h, buckets) == j && !yield(s.locs[i]) {
			return
		}
	}
}

// under is Under while the table is as large, or larger.
func (t *Table) under(j, buckets uint32, yield func(uint32) bool) bool {
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
