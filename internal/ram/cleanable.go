package ram

// cleanable lists a shard's sealed segments that are worth cleaning: less is lost
// by copying their live records, at most half a segment, than by giving up the
// oldest ones. There is a list for each grade, so that a cheap one is found
// without looking at the others.
type cleanable [grades + 1]uint32 // by grade, the first segment of its list

// grades is the number of lists: the cleaning costs of segments of one grade differ by
// up to 1/16 of a segment. Grade 0 is for segments that are not listed.
const grades = 8

// cheapest is a segment of the least grade, 0 if none is listed.
func (c *cleanable) cheapest() uint32 {
	for _, id := range c[1:] {
		if id != 0 {
			return id
		}
	}
	return 0
}

// move takes a segment out of its list and puts it into another.
func (c *cleanable) move(segs []segment, id uint32, grade uint8) {
	seg := &segs[id]
	if seg.grade == grade {
		return
	}
	if seg.grade != 0 {
		if seg.cleanPrev != 0 {
			segs[seg.cleanPrev].cleanNext = seg.cleanNext
		} else {
			c[seg.grade] = seg.cleanNext
		}
		if seg.cleanNext != 0 {
			segs[seg.cleanNext].cleanPrev = seg.cleanPrev
		}
	}
	seg.grade, seg.cleanPrev, seg.cleanNext = grade, 0, 0
	if grade == 0 {
		return
	}
	if seg.cleanNext = c[grade]; seg.cleanNext != 0 {
		segs[seg.cleanNext].cleanPrev = id
	}
	c[grade] = id
}
