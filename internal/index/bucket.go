package index

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/firncache/firn/internal/offheap"
)

// Slots is the number of entries in a bucket.
const Slots = 10

// BucketSize is the size of a bucket in bytes: one cache line.
const BucketSize = 64

// MaxFreq is the largest frequency that an entry holds.
const MaxFreq = 3

// Bucket holds up to ten entries in one cache line.
//
//	 0        8        16       20   24                                    64
//	+--------+--------+--------+----+----+----+----+----+--  --+----+----+
//	| 4 tags | 4 tags | 2 tags |link| location × 10, 4 bytes each         |
//	+--------+--------+--------+----+----+----+----+----+--  --+----+----+
//
// A tag is 16 bits: the upper two count reads (the frequency), the lower
// fourteen are a slice of the key's hash, never zero in a used slot. The link
// is the number of the next bucket of the chain, among the table's overflow
// buckets and from 1, 0 for none.
//
// Invariants that lock-free readers rely on:
//   - Only the holder of the table's lock changes a location, a link, or which
//     tags are there; readers change frequencies only, by compare-and-swap of
//     the whole word, so they can never undo a writer's change.
//   - A location is stored before the tag that makes it findable, and is zeroed
//     when its entry goes: a location that is unchanged after a copy was live
//     while the copy was made.
//   - A writer may overwrite a frequency that changed meanwhile. It is lost.
type Bucket struct {
	tags [3]atomic.Uint64
	locs [Slots]atomic.Uint32
}

var _ [0]struct{} = [BucketSize - unsafe.Sizeof(Bucket{})]struct{}{}

const (
	tagBits  = 14
	tagMask  = 1<<tagBits - 1
	freqUnit = 1 << tagBits
	lanes    = 0x0001_0001_0001_0001 // one in each 16-bit lane
	lastTags = 0x0000_0000_FFFF_FFFF // of the third word; the rest is the link
	linkBit  = 32                    // where the link starts in the third word
)

// Tag is the slice of a key's hash that its entry carries.
type Tag uint64

// TagOf takes the tag from bits 32 to 45 of the hash: the bucket number comes
// from the lower half, the shard from bit 48 on.
func TagOf(hash uint64) Tag {
	t := Tag(hash>>32) & tagMask
	if t == 0 {
		t = 1
	}
	return t
}

// Matches is a set of slots, as Match and Free return it: bit 16·lane + word.
type Matches uint64

// Next removes one slot from the set and returns it; call it while m != 0.
func (m *Matches) Next() (slot int) {
	p := bits.TrailingZeros64(uint64(*m))
	*m &= *m - 1
	return p
}

// A slot number is its position in Matches: lane<<4 | word. Slot i's location
// stands at locs[word*4+lane].
func wordOf(slot int) int  { return slot & 3 }
func shiftOf(slot int) int { return slot & 0x30 }
func locOf(slot int) int   { return (slot&3)<<2 | slot>>4 }

// Match returns the slots whose tag is t. For each word it takes the lower 14
// bits of the lanes' difference to t from bit 14, which is left only where the
// difference is zero: no borrow crosses a lane, so there are no false matches.
func (b *Bucket) Match(t Tag) Matches {
	const low, high = tagMask * lanes, freqUnit * lanes
	p := uint64(t) * lanes
	return Matches((high-(b.tags[0].Load()^p)&low)&high>>14 |
		(high-(b.tags[1].Load()^p)&low)&high>>13 |
		(high-(b.tags[2].Load()^p)&low)&(high&lastTags)>>12)
}

// Free returns the slots that hold no entry.
func (b *Bucket) Free() Matches { return b.Match(0) }

// Used returns the slots that hold an entry.
func (b *Bucket) Used() Matches {
	const all = lanes | lanes<<1 | lanes&lastTags<<2
	return b.Free() ^ all
}

// Location is where the record of a slot lies, 0 if the slot was just emptied.
func (b *Bucket) Location(slot int) uint32 { return b.locs[locOf(slot)].Load() }

// SetLocation moves an entry to another record of the same key.
func (b *Bucket) SetLocation(slot int, loc uint32) {
	offheap.StoreRelease32(&b.locs[locOf(slot)], loc)
}

// Tag is the tag in a slot, 0 if it is free.
func (b *Bucket) Tag(slot int) Tag {
	return Tag(b.tags[wordOf(slot)].Load()>>shiftOf(slot)) & tagMask
}

// Freq is the frequency in a slot, 0 to MaxFreq.
func (b *Bucket) Freq(slot int) int {
	return int(b.tags[wordOf(slot)].Load()>>(shiftOf(slot)+tagBits)) & MaxFreq
}

// SetFreq sets the frequency of a slot; the caller holds the table's lock.
func (b *Bucket) SetFreq(slot, freq int) {
	w, shift := &b.tags[wordOf(slot)], shiftOf(slot)
	offheap.StoreRelease64(w, w.Load()&^(MaxFreq<<(shift+tagBits))|uint64(freq)<<(shift+tagBits))
}

// Word is the word that holds a slot's tag and frequency, for Touch.
func (b *Bucket) Word(slot int) uint64 { return b.tags[wordOf(slot)].Load() }

// Touch counts a read of the slot, up to MaxFreq. It is called by readers
// without a lock, with the word as it was before they made sure that the bucket
// is one: should its memory have been reused since, the word is not there any
// more. It does nothing if anything in the word has changed, nor if the slot was
// empty in it.
func (b *Bucket) Touch(slot int, word uint64) {
	shift := shiftOf(slot)
	if word>>(shift+tagBits)&MaxFreq != MaxFreq && word>>shift&tagMask != 0 {
		b.tags[wordOf(slot)].CompareAndSwap(word, word+freqUnit<<shift)
	}
}

// put fills a free slot.
func (b *Bucket) put(slot int, t Tag, freq int, loc uint32) {
	offheap.StoreRelease32(&b.locs[locOf(slot)], loc)
	w, shift := &b.tags[wordOf(slot)], shiftOf(slot)
	offheap.StoreRelease64(w, w.Load()&^(0xffff<<shift)|(uint64(t)|uint64(freq)<<tagBits)<<shift)
}

// clear empties a slot.
func (b *Bucket) clear(slot int) {
	w := &b.tags[wordOf(slot)]
	offheap.StoreRelease64(w, w.Load()&^(0xffff<<shiftOf(slot)))
	offheap.StoreRelease32(&b.locs[locOf(slot)], 0)
}

// link is the number of the next bucket in the chain, 0 for none.
func (b *Bucket) link() uint32 { return uint32(b.tags[2].Load() >> linkBit) }

// Linked reports whether the bucket's chain goes on.
func (b *Bucket) Linked() bool { return b.link() != 0 }

func (b *Bucket) setLink(l uint32) {
	w := &b.tags[2]
	offheap.StoreRelease64(w, w.Load()&lastTags|uint64(l)<<linkBit)
}

// reset makes the bucket empty, whatever bytes it held before.
func (b *Bucket) reset() {
	for i := range b.tags {
		offheap.StoreRelease64(&b.tags[i], 0)
	}
	for i := range b.locs {
		offheap.StoreRelease32(&b.locs[i], 0)
	}
}
