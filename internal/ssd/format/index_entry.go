package format

import (
	"math/bits"
	"slices"
)

// ID is how the tier knows a key: 40 bits of its hash.
type ID uint64

// IDBits is how many bits an id has.
const IDBits = 8 * IDLen

// IDOf is the id of a hash, of which an index may have room for fewer bits: see IDs.
func IDOf(hash uint64) ID { return ID(hash >> (64 - IDBits)) }

// Location is where a record begins in the log file, in units; 0 is none.
type Location uint64

// Entry is one word of the index:
//
//	 63                        5+n-1         5  4  3     0
//	┌───────────────────────────┬─────────────┬──┬────────┐
//	│        fingerprint        │  location   │rd│ class  │
//	└───────────────────────────┴─────────────┴──┴────────┘
//
// The location has n bits, as many as the log needs; the fingerprint, the low
// bits of the id, has the others. Together with the shard's number, the id's
// high bits, they are all of an id for logs up to some GiB; the bits that larger
// ones have no room for are left out of ids (see IDs). read tells that the
// record was read since it was written. class tells how many sectors have bytes of the
// record, or a few more: see classSectors; the last classes are for longer ones, for the
// parts of a long value, and for its head. 0 is no entry, and no record lies at location 0.
type Entry uint64

// The parts of an entry.
const (
	ClassBits     = 4
	ReadBit       = 1 << ClassBits
	LocationShift = ClassBits + 1

	longClass = 1<<ClassBits - 3 // more sectors than the others have
	PartClass = 1<<ClassBits - 2
	HeadClass = 1<<ClassBits - 1

	usualHead = 256 // bytes of a head or a part that are read first; with a long key there are more

	// MaxLocationBits leaves a fingerprint of 25 bits.
	MaxLocationBits = 34
	MaxShardBits    = 15
)

// sectorBytes is the least that a device reads. Records begin anywhere in one.
const sectorBytes = 512

// classSectors is the most sectors with bytes of a record, by class. Few of them are told
// exactly: they are most of what a read of a small record takes.
var classSectors = [longClass]int{1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512}

// Layout is the number of a location's bits in an entry, and the unit of locations.
type Layout struct{ LocationBits, UnitShift uint8 }

// offset is where a location lies in the file, in bytes.
func (l Layout) offset(loc Location) int { return int(loc << l.UnitShift) }

// FingerprintShift is the lowest bit of an entry's fingerprint.
func (l Layout) FingerprintShift() uint { return LocationShift + uint(l.LocationBits) }

// FingerprintBits is at most as many as an id has: shorter ones leave the
// highest bits of an entry 0.
func (l Layout) FingerprintBits() uint { return min(64-l.FingerprintShift(), IDBits) }

// idMask selects the bits of an id that an entry can represent: the highest name
// the shard, the lowest are the fingerprint.
func (l Layout) idMask(shardBits uint) ID {
	return 1<<IDBits - 1<<(IDBits-shardBits) | 1<<l.FingerprintBits() - 1
}

// Fingerprint is the fingerprint of an entry.
func (l Layout) Fingerprint(e Entry) uint64 { return uint64(e) >> (l.FingerprintShift() & 63) }

// Location is where the record of an entry begins.
func (l Layout) Location(e Entry) Location {
	return Location(e>>LocationShift) & (1<<l.LocationBits - 1)
}

// FingerprintOf is the fingerprint of an id.
func (l Layout) FingerprintOf(x ID) uint64 {
	return uint64(x) & (1<<l.FingerprintBits() - 1)
}

// Read reports whether the record was read since it was written.
func (e Entry) Read() bool { return e&ReadBit != 0 }

// Class is the class of the record.
func (e Entry) Class() int { return int(e & (1<<ClassBits - 1)) }

// MaxBytes is the most bytes that the entry's record may have; false where that
// is not known, and it may have more.
func (l Layout) MaxBytes(e Entry) (n int, bounded bool) {
	switch class := e.Class(); class {
	case HeadClass, PartClass:
		return usualHead, false
	case longClass:
		return classSectors[longClass-1] * sectorBytes, false
	default:
		return classSectors[class]*sectorBytes - l.offset(l.Location(e))%sectorBytes, true
	}
}

// NewEntry is the entry of a record of a kind, which has so many bytes.
func (l Layout) NewEntry(x ID, loc Location, bytes int, k Kind) Entry {
	return Entry(l.FingerprintOf(x))<<l.FingerprintShift() | Entry(loc)<<LocationShift | Entry(Class(k, l.offset(loc), bytes))
}

// Class is the class of a record of a kind, which has so many bytes from an offset on, of the
// file or of its segment.
func Class(k Kind, off, bytes int) int {
	switch k {
	case IsPart:
		return PartClass
	case IsHead:
		return HeadClass
	}
	sectors := (off%sectorBytes + bytes + sectorBytes - 1) / sectorBytes
	if sectors <= 4 { // most are, and then they are the class's
		return max(sectors, 1) - 1
	}
	class, _ := slices.BinarySearch(classSectors[:], sectors)
	return class
}

// Weight is about how many bytes the record of an entry of a class has, if it is neither a part
// nor a head: the middle of the class.
func Weight(class int) uint64 {
	if class == 0 {
		return sectorBytes / 2
	}
	below := classSectors[class-1]
	most := 2 * below
	if class < longClass {
		most = classSectors[class]
	}
	return uint64(below+most) * sectorBytes / 2
}

// Ascend reports whether each of the entries has a higher fingerprint than the one
// before it.
func (l Layout) Ascend(entries []uint64) bool {
	for i := 1; i < len(entries); i++ {
		if l.Fingerprint(Entry(entries[i-1])) >= l.Fingerprint(Entry(entries[i])) {
			return false
		}
	}
	return true
}

// Home is where a fingerprint's entry would like to be in a table of such a
// capacity.
func (l Layout) Home(fp uint64, capacity int) int {
	hi, _ := bits.Mul64(fp<<((64-l.FingerprintBits())&63), uint64(capacity))
	return int(hi)
}
