package format

import "math/bits"

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
// record was read since it was written. The record has at most 128<<class bytes;
// the last classes are for longer ones, for the parts of a long value, and for its
// head. 0 is no entry, and no record lies at location 0.
type Entry uint64

// The parts of an entry.
const (
	ClassBits     = 4
	ReadBit       = 1 << ClassBits
	LocationShift = ClassBits + 1

	longClass = 1<<ClassBits - 3 // 128<<longClass bytes, or more
	PartClass = 1<<ClassBits - 2
	HeadClass = 1<<ClassBits - 1

	usualHead = 256 // bytes of a head or a part that are read first; with a long key there are more

	// MaxLocationBits leaves a fingerprint of 25 bits.
	MaxLocationBits = 34
	MaxShardBits    = 15
)

// Layout is the number of a location's bits in an entry.
type Layout struct{ LocationBits uint8 }

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
func (e Entry) MaxBytes() (n int, bounded bool) {
	switch class := e.Class(); class {
	case HeadClass, PartClass:
		return usualHead, false
	default:
		return 128 << class, class < longClass
	}
}

// NewEntry is the entry of a record of a kind, which has so many bytes.
func (l Layout) NewEntry(x ID, loc Location, bytes int, k Kind) Entry {
	return Entry(l.FingerprintOf(x))<<l.FingerprintShift() | Entry(loc)<<LocationShift | Entry(k.Class(bytes))
}

// Class is the class of a record of a kind and of so many bytes.
func (k Kind) Class(bytes int) int {
	switch k {
	case IsPart:
		return PartClass
	case IsHead:
		return HeadClass
	}
	return classOf(bytes)
}

// classOf is the lowest class for records of so many bytes.
func classOf(bytes int) int {
	return min(bits.Len(uint(max(bytes, 1)-1)>>7), longClass)
}

// Weight is about how many bytes the entry's record has, if it is neither a part nor a
// head.
func (e Entry) Weight() uint64 { return 96 << e.Class() }

// WeightOf is the weight of an entry for a record of so many bytes.
func WeightOf(bytes int) uint64 { return Entry(classOf(bytes)).Weight() }

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
