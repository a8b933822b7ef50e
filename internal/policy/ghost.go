package policy

import "math/bits"

// Ghosts remembers the keys that a shard evicted last, two bytes for each.
// It is guarded by its shard's mutex.
//
// It is an array of buckets of one cache line, 32 fingerprints of 16 bits:
//
//	word 0                      word 7
//	┌────┬────┬────┬────┬─ … ─┬────┬────┬────┬────┐
//	│  0 │  1 │  2 │  3 │     │ 28 │ 29 │ 30 │ 31 │   0: an empty place
//	└────┴────┴────┴────┴─ … ─┴────┴────┴────┴────┘
//	newest                                  oldest
//
// A new fingerprint pushes the others along and the oldest out, so the place
// of a fingerprint gives its age: every place stands for as many evictions as
// there are buckets. Two keys with one fingerprint in one bucket, about one
// lookup in 2000, cost a wrong lane and nothing else.
type Ghosts struct {
	words []uint64 // whole buckets
	clock uint32   // evictions so far; it wraps
}

const (
	bucketWords  = 8
	bucketPlaces = 4 * bucketWords

	// GhostBytes is the size of one ghost.
	GhostBytes = 2
)

// NewGhosts uses memory, which must be zero and stays the caller's; words
// beyond the last whole bucket are left alone. Without memory for one bucket
// it remembers nothing.
func NewGhosts(memory []uint64) Ghosts {
	return Ghosts{words: memory[:len(memory)/bucketWords*bucketWords]}
}

// GhostWords is the length of memory that serves a shard of so many entries in
// so many bytes: three ghosts for each entry, within 1/32 of the bytes.
func GhostWords(entries, bytes int64) int {
	n := min(ghostsPerEntry*entries*GhostBytes, bytes/ghostShare)
	return int(max(n, 0) / (8 * bucketWords) * bucketWords)
}

const (
	ghostsPerEntry = 3  // more hardly help
	ghostShare     = 32 // the ghosts of very small records may take 1/ghostShare of the bytes
)

// Clock counts evictions. A lane's segment keeps the clock of the moment it
// got its first record as its stamp.
func (g *Ghosts) Clock() uint32 { return g.clock }

// Evict notes an eviction. It remembers the key if it was in Small: one
// from Main has shown that it does not come back soon.
func (g *Ghosts) Evict(from Lane, hash uint64) {
	if from == Main {
		return
	}
	g.clock++
	bucket, carry := g.place(hash) // the fingerprint is carried into word 0
	for i, w := range bucket {
		bucket[i], carry = w<<16|carry, w>>48
	}
}

// Take forgets a key and returns its age since eviction, in evictions. ok
// reports whether there was a ghost of it.
func (g *Ghosts) Take(hash uint64) (age uint32, ok bool) {
	bucket, fingerprint := g.place(hash)
	for i, w := range bucket {
		if at := match16(w, fingerprint); at >= 0 {
			bucket[i] &^= 0xffff << (16 * at)
			buckets := uint32(len(g.words) / bucketWords)
			return uint32(4*i+at) * buckets, true
		}
	}
	return 0, false
}

// place is the bucket of a hash and the hash's fingerprint in it.
func (g *Ghosts) place(hash uint64) (bucket []uint64, fingerprint uint64) {
	hash = spread(hash)
	fingerprint = max(hash>>20&0xffff, 1)
	if len(g.words) == 0 {
		return nil, fingerprint
	}
	return g.words[g.bucketOf(hash)*bucketWords:][:bucketWords:bucketWords], fingerprint
}

// bucketOf is the number of the bucket of a spread hash.
func (g *Ghosts) bucketOf(hash uint64) uint64 {
	hi, _ := bits.Mul64(hash, uint64(len(g.words)/bucketWords))
	return hi
}

// Offset is where in the memory the ghost of a key is or will be, in bytes, for who
// loads that ahead. It is false without memory.
func (g *Ghosts) Offset(hash uint64) (off uint64, ok bool) {
	return g.bucketOf(spread(hash)) * bucketWords * 8, len(g.words) > 0
}

// spread mixes a hash, so that the choice here does not depend on the bits
// that chose the shard and the index bucket.
func spread(hash uint64) uint64 { return (hash ^ hash>>32) * 0x9E3779B97F4A7C15 }

// match16 is the first of four 16-bit lanes of w that equals x, or -1.
func match16(w, x uint64) int {
	const low, high = 0x0001000100010001, 0x8000800080008000
	d := w ^ x*low
	d = (d - low) &^ d & high
	if d == 0 {
		return -1
	}
	return bits.TrailingZeros64(d) / 16
}

// Lane is where a record enters whose key was absent. small and main are the
// stamps of the two lanes' tail segments, of an empty lane the clock.
//
// A key enters Main if it was away for less than three quarters of the time
// that Main's tail has been there: the quarter makes up for the vagueness of a
// ghost's age, or the keys of a loop would push each other out.
func (g *Ghosts) Lane(hash uint64, small, main uint32) Lane {
	age, ok := g.Take(hash)
	away, stayed := uint64(age+(g.clock-small)), uint64(g.clock-main)
	if ok && 4*away < 3*stayed {
		return Main
	}
	return Small
}
