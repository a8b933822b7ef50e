package ram

// cursor walks the pieces of a straddling record. It follows links that may be
// stale or 0 when no lock is held; the pieces that it yields always lie in the region.
type cursor struct {
	t      *Tier
	id, in uint32
}

// newCursor starts from bytes into the record at off.
func newCursor(t *Tier, off, from uint64) cursor {
	id, in := t.segmentAt(off)
	c := cursor{t, id, in}
	for from > 0 {
		_, n := c.next(int(from))
		from -= uint64(n)
	}
	return c
}

// next is the longest piece of at most n bytes, and moves past it.
func (c *cursor) next(n int) (off uint64, length int) {
	if c.in == c.t.segSize() {
		c.id, c.in = c.t.segs[c.id].Cont.Load(), 0
	}
	off = uint64(c.id)<<c.t.segShift + uint64(c.in)
	length = min(n, int(c.t.segSize()-c.in))
	c.in += uint32(length)
	return off, length
}
