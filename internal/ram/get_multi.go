package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// A lookup of a GetMulti goes through four stages, and while the memory arrives that
// it needs next, those of other keys have their turns:
//
//   - begin hashes the key, and starts to load the bucket where its search begins;
//   - match finds the key's tag there, and starts to load the record;
//   - follow does the same in the second bucket, if the first has a link and not the tag;
//   - finish compares the key, copies the value, and makes sure that it is right.
//
// They take the steps of Tier.get, which are numbered there, in that order: see
// docs/internals/CONCURRENCY.md. Whatever else comes up they leave to Tier.get itself.

// A stage takes a group of keys at a time: neighbours in it overlap, and that is cheaper
// than to change between stages. Larger groups, or more time between the stages, load
// more lines at once than a core keeps track of.
const (
	group = 4

	matchAfter  = 8 // keys between a key's first stage and the next
	followAfter = 12
	finishAfter = 16
)

// What is known of a record without a place; records lie at multiples of record.Align.
const (
	notThere = 0
	unclear  = 1 // left to Tier.get
)

// GetMulti is Get for many keys. What it finds is in b.
func (t *Tier) GetMulti(b *Batch, keys [][]byte) {
	b.reset(len(keys))
	if t.cached() {
		t.getEach(b, keys)
		return
	}
	for i := 0; i < len(keys)+finishAfter; i += group {
		t.begin(b, keys, i)
		t.match(b, i-matchAfter)
		if b.lookups.linked != 0 {
			t.follow(b, i-followAfter)
		}
		t.finish(b, keys, i-finishAfter)
	}
	t.reads.add(len(keys)-b.Misses, b.Misses)
	if t.slides.life != 0 {
		t.slideMulti(b, keys)
	}
}

// overlapFrom is from how many bytes of index and records a GetMulti overlaps its lookups: in
// fewer, most of what they need is in the processor's cache, and the stages cost more than
// they save. Measured: see docs/internals/DECISIONS.md.
const overlapFrom = 6 << 20

// cached reports whether the tier is too small for lookups to be worth overlapping, judged by
// one shard.
func (t *Tier) cached() bool {
	const entries = 6 // in a bucket, on average
	buckets := uint64(t.shards[0].table.Buckets()) * uint64(len(t.shards))
	return buckets*(index.BucketSize+entries*t.usualRecord()) < t.overlapFrom
}

// getEach is GetMulti, key by key.
func (t *Tier) getEach(b *Batch, keys [][]byte) {
	t.roomFor(b, len(keys))
	dst := b.Bytes
	for i, key := range keys {
		k, start := offheap.String(key), len(dst)
		n, deadline := getFast(t, dst, k)
		if n >= 0 {
			dst = dst[:start+n]
		} else {
			var ok bool
			if dst, deadline, ok = t.getRest(n, deadline, dst, k); !ok {
				b.miss(i)
				b.Hashes[i] = t.Hash(key)
				continue
			}
		}
		b.spans[i] = span{start, len(dst), deadline}
	}
	b.Bytes = dst
}

// roomFor gives a Batch that has none room for the values of some keys.
func (t *Tier) roomFor(b *Batch, keys int) {
	if b.Bytes == nil {
		b.Bytes = make([]byte, 0, min(keys, inFlight)*int(t.usualRecord()))
	}
}

// begin is the first stage of the group at i, if there is one.
func (t *Tier) begin(b *Batch, keys [][]byte, i int) {
	if uint(i) >= uint(len(keys)) {
		return
	}
	l, at := &b.lookups, i%inFlight
	keys = keys[i:min(i+group, len(keys))]
	hashes := b.Hashes[i:][:len(keys)]
	for k, key := range keys {
		hash := t.Hash(key)
		hashes[k] = hash
		s, j := t.shardOf(hash), uint(at+k)%inFlight
		l.epoch[j], l.shape[j] = s.epoch.Load(), s.table.Shape() // 1
		l.bucket[j] = s.table.Offset(s.table.Home(hash, l.shape[j]))
	}
	t.region.PrefetchAll(l.bucket[at:][:len(keys)], 1)
}

// match is the second stage of the group at i.
func (t *Tier) match(b *Batch, i int) {
	if uint(i) >= uint(len(b.Hashes)) {
		return
	}
	l, at := &b.lookups, i%inFlight
	hashes := b.Hashes[i:min(i+group, len(b.Hashes))]
	for k, hash := range hashes {
		j := uint(at+k) % inFlight
		bucket := offheap.At[index.Bucket](t.region, l.bucket[j])
		if m := bucket.Match(index.TagOf(hash)); m != 0 { // 2
			t.locate(l, j, bucket, m.Next())
		} else if bucket.Linked() {
			t.link(l, j, hash, bucket)
		} else {
			t.absent(l, j, hash)
		}
	}
	t.region.PrefetchAll(l.record[at:][:len(hashes)], t.usualRecord())
}

// usualRecord is how many bytes of a record are loaded ahead.
func (t *Tier) usualRecord() uint64 { return min(t.meanRecordBytes.Load(), maxPrefetch) }

// locate notes where the record lies that a slot leads to.
func (t *Tier) locate(l *lookups, j uint, b *index.Bucket, slot int) {
	loc := b.Location(slot)
	off := t.place(loc)
	if off-1 >= t.ghostAt-1 { // 0, or beyond the segments
		off = unclear
	}
	l.record[j], l.loc[j], l.slot[j] = off, loc, uint8(slot)
}

// absent ends a search that saw no tag of the key's.
func (t *Tier) absent(l *lookups, j uint, hash uint64) {
	s := t.shardOf(hash)
	l.record[j] = notThere
	offheap.LoadFence()                                                // 6
	if s.epoch.Load() != l.epoch[j] || s.table.Shape() != l.shape[j] { // 7
		l.record[j] = unclear
	}
}

// link has the search go on in the bucket that b leads to.
//
//go:noinline
func (t *Tier) link(l *lookups, j uint, hash uint64, b *index.Bucket) {
	next := t.shardOf(hash).nextBucket(b, l.epoch[j])
	if next == nil {
		l.record[j] = unclear
		return
	}
	l.record[j] = notThere // until follow
	l.bucket[j] = offheap.OffsetOf(t.region, next)
	l.linked |= 1 << j
	t.region.Prefetch(l.bucket[j])
}

// follow is the third stage of the group at i.
func (t *Tier) follow(b *Batch, i int) {
	if uint(i) >= uint(len(b.Hashes)) {
		return
	}
	l := &b.lookups
	for k, hash := range b.Hashes[i:min(i+group, len(b.Hashes))] {
		j := uint(i+k) % inFlight
		if l.linked>>j&1 == 0 {
			continue
		}
		l.linked &^= 1 << j
		bucket := offheap.At[index.Bucket](t.region, l.bucket[j])
		if m := bucket.Match(index.TagOf(hash)); m != 0 { // 2
			t.locate(l, j, bucket, m.Next())
			t.region.PrefetchRange(l.record[j], t.usualRecord())
		} else if bucket.Linked() {
			l.record[j] = unclear
		} else {
			t.absent(l, j, hash)
		}
	}
}

// finish is the last stage of the group at i.
func (t *Tier) finish(b *Batch, keys [][]byte, i int) {
	if uint(i) >= uint(len(keys)) {
		return
	}
	l := &b.lookups
	for k, key := range keys[i:min(i+group, len(keys))] {
		j, hash := uint(i+k)%inFlight, b.Hashes[i+k]
		if l.record[j] == notThere {
			b.miss(i + k)
			t.observeMiss(hash)
			continue
		}
		t.roomFor(b, len(keys))
		v, deadline, ok := t.readRecord(l, j, hash, b.Bytes, key)
		if !ok {
			var out outcome
			if v, deadline, out = t.getRetried(b.Bytes, key, hash, forValue); out != hit {
				b.miss(i + k)
				t.observeMiss(hash)
				continue
			}
		}
		start := len(b.Bytes)
		if t.tuner.Sampled(hash) { // not observeHit, which is not inlined
			t.observeSampled(hash, key, len(v)-start, deadline)
		}
		b.Bytes = v
		b.Put(i+k, start, deadline)
	}
}

// readRecord appends to dst the value of a record in one piece. It reports false for
// whatever is not that, not the key's, or not to be trusted.
func (t *Tier) readRecord(l *lookups, j uint, hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	off := l.record[j]
	if off == unclear {
		return nil, 0, false
	}
	h := t.header(off)
	version, sh := h.version.Load(), record.Shape(h.shape.Load()) // 3
	from, n := off+uint64(sh.HeaderLen()), sh.ShortValueLen()
	if sh.Long() || sh.KeyLen() != len(key) || !t.whole(off, from-off+uint64(len(key)+n)) || !t.region.Equal(from, key) { // 4
		return nil, 0, false
	}
	if sh.Expires() {
		if deadline = int64(offheap.At[atomic.Uint64](t.region, off+8).Load()); t.clock.expired(deadline) {
			return nil, 0, false
		}
	}
	value = t.region.AppendOut(dst, from+uint64(len(key)), n) // 5
	bucket, slot := offheap.At[index.Bucket](t.region, l.bucket[j]), int(l.slot[j])
	word := bucket.Word(slot)
	if !t.shardOf(hash).unchanged(l.epoch[j], bucket, slot, l.loc[j], h, version) { // 6, 7
		return nil, 0, false
	}
	bucket.Touch(slot, word) // 8
	return value, deadline, true
}

// slideMulti is slide for what a batch has found.
func (t *Tier) slideMulti(b *Batch, keys [][]byte) {
	for i := range b.spans {
		if v := &b.spans[i]; v.end >= 0 {
			v.deadline = t.slide(b.Hashes[i], keys[i], v.deadline)
		}
	}
}
