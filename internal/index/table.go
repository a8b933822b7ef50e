package index

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
)

// Memory is where a table's chunks lie. Chunk c is the bytes
// [c<<ChunkShift, (c+1)<<ChunkShift) of Region.
type Memory struct {
	Region     *offheap.Region
	ChunkShift uint // log2 of a chunk's size in bytes
}

// Table is an index over the keys of one shard.
//
// Readers look at shape, chunks and buckets, without a lock:
//
//	shape := t.Shape()
//	for b := t.Bucket(Home(hash, shape)); b != nil; b = t.Next(b) { … b.Match(tag) … }
//	if nothing was found and t.Shape() != shape { look again }
//
// An entry that moves from one bucket to another is put into its new place,
// then the shape changes, then the old place is cleared: a search that missed
// it on both sides sees a different shape.
type Table struct {
	shape      atomic.Uint64   // buckets: lower half; count of moves: upper half
	mask       atomic.Uint32   // the least 2^n-1 that covers all bucket numbers: see Home
	chunkShift uint32          // log2 of the buckets in a chunk
	chunks     []atomic.Uint32 // chunk of buckets [i·perChunk, (i+1)·perChunk)
	mem        Memory
	chunkMask  uint32 // the number of buckets in a chunk less one

	overflow atomic.Pointer[[]uint32] // chunks that hold overflow buckets; a list is never changed

	// The rest belongs to the writer.
	hashAll HashAll
	scratch scratch
	count   int      // entries
	owned   int      // entries of chunks in use
	free    uint32   // first overflow bucket that was freed, as a link; chained by link
	unused  uint32   // first one of the last overflow chunk that was never in use, as a link
	freeLen int      // how many there are of both kinds
	spare   []uint32 // chunks given and not yet used
}

// HashAll sets hashes[i] to the hash of the key whose record lies at locs[i].
type HashAll func(hashes []uint64, locs []uint32)

// minFree is the number of free overflow buckets that an insert and the split
// which it sets off may need.
const minFree = 8

// Init makes t an empty table of one chunk, which it then owns, as it does
// those given by AddChunk. chunks is memory for the list of chunks of the main
// part, whose growth its length bounds. Only the writer calls hashAll.
func (t *Table) Init(mem Memory, chunk uint32, chunks []atomic.Uint32, hashAll HashAll) {
	t.mem, t.chunks, t.hashAll = mem, chunks, hashAll
	t.chunkShift = uint32(mem.ChunkShift) - 6
	t.chunkMask = t.perChunk() - 1
	t.overflow.Store(&[]uint32{})
	t.start(chunk)
}

func (t *Table) start(chunk uint32) {
	t.chunks[0].Store(chunk)
	t.owned = 1
	n := t.leastBuckets()
	for i := range n {
		t.bucket(i).reset()
	}
	t.publish(n)
}

// leastBuckets is the number of buckets of an empty table. They are few, lest Clear
// takes long.
func (t *Table) leastBuckets() uint32 { return min(t.perChunk(), 64) }

// Clear forgets all entries. Of the chunks the table uses one from then on, and Surplus
// gives back all others but one.
func (t *Table) Clear() {
	for i := 1; i < t.owned; i++ {
		t.spare = append(t.spare, t.chunks[i].Load())
	}
	t.spare = append(t.spare, t.overflowChunks()...)
	t.free, t.freeLen, t.count = 0, 0, 0
	t.overflow.Store(&[]uint32{})
	t.start(t.chunks[0].Load())
}

// perChunk is the number of buckets in a chunk, a power of two.
func (t *Table) perChunk() uint32 { return 1 << (t.mem.ChunkShift - 6) }

// Shape is the state that a search compares before and after: see Table.
func (t *Table) Shape() uint64 { return t.shape.Load() }

// publish sets the number of buckets and counts a move.
// The mask is never too small for a shape that a reader has seen: it grows
// before the shape and shrinks after it.
func (t *Table) publish(buckets uint32) {
	moves, mask := t.shape.Load()>>32+1, uint32(1)<<bits.Len32(buckets-1)-1
	if mask > t.mask.Load() {
		t.mask.Store(mask)
	}
	t.shape.Store(moves<<32 | uint64(buckets))
	if mask < t.mask.Load() {
		t.mask.Store(mask)
	}
}

// Buckets is the number of those in the main part. It may be called at any time.
func (t *Table) Buckets() uint32 { return uint32(t.shape.Load()) }

// home is the number of the bucket where a key's search begins: the lower bits
// of its hash, one bit more for buckets that were split already.
func home(hash uint64, buckets uint32) uint32 {
	mask := uint32(1)<<(bits.Len32(buckets-1)&31) - 1
	j := uint32(hash) & mask
	// Without a branch, for it would be taken at random: over is all ones if
	// j >= buckets, and then j loses its top bit.
	over := uint32((int64(buckets) - 1 - int64(j)) >> 63)
	return j &^ (over & (mask>>1 + 1))
}

// Home is the number of the first bucket to search for a key with this hash.
func Home(hash, shape uint64) uint32 { return home(hash, uint32(shape)) }

// Bucket is the view of a bucket of the main part.
func (t *Table) Bucket(j uint32) *Bucket { return t.bucket(j) }

// Home is the number of the first bucket to search for a key with this hash, if
// the table has the shape. It is home for readers, who are many: the mask is
// kept rather than worked out. If the mask is another shape's, the table has
// changed since; the number is then one of those that the table has had, and a
// search that finds nothing there sees the other shape.
func (t *Table) Home(hash, shape uint64) uint32 {
	mask, buckets := t.mask.Load(), uint32(shape)
	j := uint32(hash) & mask
	// Without a branch, as in home.
	over := uint32((int64(buckets) - 1 - int64(j)) >> 63)
	return j &^ (over & (mask>>1 + 1))
}

// Offset is where a bucket of the main part lies in the region.
func (t *Table) Offset(j uint32) uint64 { return t.offset(j) }

// Next is the bucket that continues b, nil if there is none. A link that was
// read from a bucket no longer in use may lead to any overflow bucket, or to an
// empty one.
func (t *Table) Next(b *Bucket) *Bucket {
	l := b.link()
	if l == 0 {
		return nil
	}
	return t.linked(l)
}

func (t *Table) offset(j uint32) uint64 {
	shift := t.chunkShift & 31
	chunk := t.chunks[j>>shift].Load()
	return (uint64(chunk)<<shift + uint64(j&t.chunkMask)) << 6
}

func (t *Table) bucket(j uint32) *Bucket { return offheap.At[Bucket](t.mem.Region, t.offset(j)) }

// linked is the overflow bucket behind a link: a link is the bucket's place among
// the table's overflow buckets, counted from 1. One that leads nowhere any more
// leads to the region's first bytes, which nobody writes.
func (t *Table) linked(l uint32) *Bucket {
	chunks, k := t.overflowChunks(), (l-1)>>(t.chunkShift&31)
	if uint64(k) >= uint64(len(chunks)) {
		return offheap.At[Bucket](t.mem.Region, 0)
	}
	off := (uint64(chunks[k])<<(t.chunkShift&31) + uint64((l-1)&t.chunkMask)) << 6
	return offheap.At[Bucket](t.mem.Region, off)
}

func (t *Table) overflowChunks() []uint32 { return *t.overflow.Load() }

// Len is the number of entries.
func (t *Table) Len() int { return t.count }

// Chunks is the number of chunks that the table owns.
func (t *Table) Chunks() int { return t.owned + len(t.overflowChunks()) + len(t.spare) }

// NeedsChunk reports whether the table wants one more chunk before the next
// Insert.
func (t *Table) NeedsChunk() bool {
	return len(t.spare) == 0 && (t.freeLen < minFree || t.splitDue() && t.atChunkEnd() && t.owned < len(t.chunks))
}

// AddChunk gives the table a chunk to grow into.
func (t *Table) AddChunk(chunk uint32) { t.spare = append(t.spare, chunk) }

func (t *Table) takeSpare() (chunk uint32, ok bool) {
	n := len(t.spare)
	if n == 0 {
		return 0, false
	}
	chunk, t.spare = t.spare[n-1], t.spare[:n-1]
	return chunk, true
}

// Find returns the entry of the record at loc.
func (t *Table) Find(hash uint64, loc uint32) (b *Bucket, slot int, ok bool) {
	tag := TagOf(hash)
	for b = t.bucket(Home(hash, t.Shape())); b != nil; b = t.Next(b) {
		for m := b.Match(tag); m != 0; {
			if slot = m.Next(); b.Location(slot) == loc {
				return b, slot, true
			}
		}
	}
	return nil, 0, false
}

// Insert adds an entry for a key that has none. The caller has seen to
// NeedsChunk.
func (t *Table) Insert(hash uint64, loc uint32, freq int) {
	t.insertChain(home(hash, t.Buckets()), TagOf(hash), freq, loc)
	t.count++
	if t.splitDue() {
		t.split()
	}
}

func (t *Table) insertChain(j uint32, tag Tag, freq int, loc uint32) {
	b := t.bucket(j)
	for {
		if m := b.Free(); m != 0 {
			b.put(m.Next(), tag, freq, loc)
			return
		}
		next := t.Next(b)
		if next == nil {
			l := t.takeFree()
			next = t.linked(l)
			next.put(0, tag, freq, loc)
			b.setLink(l)
			return
		}
		b = next
	}
}

// Remove takes an entry out. Shrink is due after it, at some time.
func (t *Table) Remove(hash uint64, b *Bucket, slot int) {
	t.count--
	b.clear(slot)
	j := home(hash, t.Buckets())
	if t.bucket(j).link() != 0 {
		t.compact(j)
	}
}

// Shrink makes the table smaller by one bucket, if so few entries are left. It reports
// whether it did.
func (t *Table) Shrink() bool { return t.mergeDue() && t.merge() }

// takeFree returns an empty overflow bucket.
func (t *Table) takeFree() (link uint32) {
	if t.freeLen == 0 {
		t.addOverflowChunk()
	}
	t.freeLen--
	if link = t.free; link != 0 {
		t.free = t.linked(link).link()
	} else {
		link = t.unused
		t.unused++
	}
	t.linked(link).reset()
	return link
}

func (t *Table) giveFree(link uint32) {
	b := t.linked(link)
	b.reset()
	b.setLink(t.free)
	t.free = link
	t.freeLen++
}

// addOverflowChunk makes a spare chunk one of overflow buckets. They are reset one by one,
// as they come to use.
func (t *Table) addOverflowChunk() {
	chunk, ok := t.takeSpare()
	if !ok {
		panic("index: no chunk for an overflow bucket: NeedsChunk was not heeded")
	}
	chunks := t.overflowChunks()
	t.unused = uint32(len(chunks))<<t.chunkShift + 1
	chunks = append(slices.Clip(chunks), chunk)
	t.overflow.Store(&chunks)
	t.freeLen += int(t.perChunk())
}
