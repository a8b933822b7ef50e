package segments

// Cleanable lists a shard's sealed segments that are worth cleaning: less is lost
// by copying their live records, at most five eighths of a segment, than by giving up the
// oldest ones. There is a list for each grade, so that a cheap one is found
// without looking at the others.
type Cleanable [Grades + 1]uint32 // by grade, the first segment of its list

// Grades is the number of lists: the cleaning costs of segments of one grade differ by
// up to 5/64 of a segment. Grade 0 is for segments that are not listed.
const Grades = 8

// Cheapest is a segment of the least grade, 0 if none is listed.
func (c *Cleanable) Cheapest() uint32 {
	for _, id := range c[1:] {
		if id != 0 {
			return id
		}
	}
	return 0
}

// Move takes a segment out of its list and puts it into another.
func (c *Cleanable) Move(segs []Segment, id uint32, grade uint8) {
	seg := &segs[id]
	if seg.Grade == grade {
		return
	}
	if seg.Grade != 0 {
		if seg.CleanPrev != 0 {
			segs[seg.CleanPrev].CleanNext = seg.CleanNext
		} else {
			c[seg.Grade] = seg.CleanNext
		}
		if seg.CleanNext != 0 {
			segs[seg.CleanNext].CleanPrev = seg.CleanPrev
		}
	}
	seg.Grade, seg.CleanPrev, seg.CleanNext = grade, 0, 0
	if grade == 0 {
		return
	}
	if seg.CleanNext = c[grade]; seg.CleanNext != 0 {
		segs[seg.CleanNext].CleanPrev = id
	}
	c[grade] = id
}
