package format

// MinUnitShift is that of the smallest unit: records begin at multiples of 8 bytes.
const MinUnitShift = 3

// Geometry is the arithmetic of a log: where a record lies in its segments, and these
// in the file.
type Geometry struct {
	SegmentShift uint // of the bytes of a segment
	UnitShift    uint // of the bytes of a unit
}

// SegmentBytes is the length of a segment.
func (g Geometry) SegmentBytes() int { return 1 << g.SegmentShift }

// Pad rounds n bytes up to units.
func (g Geometry) Pad(n int) int {
	unit := 1 << g.UnitShift
	return (n + unit - 1) &^ (unit - 1)
}

// MaxRecord is the largest record in bytes that a segment holds.
func (g Geometry) MaxRecord() int {
	return g.SegmentBytes() - SegmentHeaderLen - TrailerLen - MaxListed - 1<<g.UnitShift
}

// MaxPart is how many bytes of a value a part takes: four parts fill a segment.
func (g Geometry) MaxPart() int { return min(g.SegmentBytes()/4-128-1<<g.UnitShift, MaxWhole) }

// LSN is the LSN of a byte of a segment.
func (g Geometry) LSN(serial uint64, off int) uint64 { return serial<<g.SegmentShift + uint64(off) }

// Serial is the serial of the segment that has an LSN.
func (g Geometry) Serial(lsn uint64) uint64 { return lsn >> g.SegmentShift }

// FileOffset is where a byte of a slot's segment lies in the file.
func (g Geometry) FileOffset(slot, off int) int64 { return int64(slot)<<g.SegmentShift + int64(off) }

// Location is where a record lies that begins at a byte of a slot's segment.
func (g Geometry) Location(slot, off int) Location {
	return Location(uint64(g.FileOffset(slot, off)) >> g.UnitShift)
}

// Place is where a location lies: the slot and the bytes from its start.
func (g Geometry) Place(loc Location) (slot, off int) {
	at := uint64(loc) << g.UnitShift
	return int(at >> g.SegmentShift), int(at & uint64(g.SegmentBytes()-1))
}
