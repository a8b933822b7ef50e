package index

// The table splits a bucket when it holds more than splitLoad entries per ten
// buckets, and merges two when it holds fewer than mergeLoad. At 60 an entry
// costs 11.6 bytes, 3 % of the entries lie in overflow buckets and 8 % of the
// searches that find nothing look at more than one bucket; at 55 it is 12.4
// bytes, 2 % and 6 %, at 80 9.8 bytes, 9 % and 23 %.
const (
	splitLoad = 60
	mergeLoad = 30
)

func (t *Table) splitDue() bool { return t.count*10 > int(t.Buckets())*splitLoad }

func (t *Table) mergeDue() bool {
	n := t.Buckets()
	return n > t.leastBuckets() && t.count*10 < int(n)*mergeLoad
}

// atChunkEnd reports whether one more bucket needs one more chunk.
func (t *Table) atChunkEnd() bool { return int(t.Buckets()) == t.owned*int(t.perChunk()) }

// partner is the bucket from which bucket j was split: j without its top bit.
func partner(j uint32) uint32 {
	top := uint32(1)
	for top<<1 <= j {
		top <<= 1
	}
	return j &^ top
}

// scratch lists the entries of a chain that is being split, merged or walked over.
type scratch struct {
	buckets []*Bucket
	slots   []int
	locs    []uint32
	hashes  []uint64
	placed  []Placed
}

// collect lists the entries of the chain at bucket j, with their hashes, and
// counts its buckets.
func (t *Table) collect(j uint32) (s *scratch, buckets int) {
	s = &t.scratch
	s.buckets, s.slots, s.locs = s.buckets[:0], s.slots[:0], s.locs[:0]
	for b := t.bucket(j); b != nil; b = t.Next(b) {
		buckets++
		for m := b.Used(); m != 0; {
			slot := m.Next()
			s.buckets, s.slots, s.locs = append(s.buckets, b), append(s.slots, slot), append(s.locs, b.Location(slot))
		}
	}
	s.hashes = append(s.hashes[:0], make([]uint64, len(s.locs))...)
	t.hashAll(s.hashes, s.locs)
	return s, buckets
}

// split adds one bucket and moves to it those entries of its partner whose
// hashes have the next bit set. Without memory for it, the split waits.
func (t *Table) split() {
	n := t.Buckets()
	from := partner(n)
	s, buckets := t.collect(from)
	if buckets > t.freeLen+1 || t.atChunkEnd() && !t.addMainChunk() {
		return
	}
	t.bucket(n).reset()
	for i, h := range s.hashes {
		if home(h, n+1) == n {
			b, slot := s.buckets[i], s.slots[i]
			t.insertChain(n, b.Tag(slot), b.Freq(slot), s.locs[i])
		}
	}
	t.publish(n + 1)
	for i, h := range s.hashes {
		if home(h, n+1) == n {
			s.buckets[i].clear(s.slots[i])
		}
	}
	t.compact(from)
}

func (t *Table) addMainChunk() bool {
	if t.owned == len(t.chunks) {
		return false
	}
	chunk, ok := t.takeSpare()
	if ok {
		t.chunks[t.owned].Store(chunk)
		t.owned++
	}
	return ok
}

// merge undoes the last split: the entries of the last bucket move to its
// partner. Without overflow buckets for them, the merge waits.
func (t *Table) merge() bool {
	last := t.Buckets() - 1
	s, buckets := t.collect(last)
	if buckets > t.freeLen {
		return false
	}
	for i := range s.locs {
		b, slot := s.buckets[i], s.slots[i]
		t.insertChain(partner(last), b.Tag(slot), b.Freq(slot), s.locs[i])
	}
	t.publish(last)
	for l := t.bucket(last).link(); l != 0; {
		next := t.linked(l).link()
		t.giveFree(l)
		l = next
	}
	if last%t.perChunk() == 0 {
		t.owned--
		t.spare = append(t.spare, t.chunks[t.owned].Load())
	}
	return true
}

// compact shortens the chain at bucket j: entries of its last bucket fill the
// holes before it.
func (t *Table) compact(j uint32) {
	for {
		prev, last := (*Bucket)(nil), t.bucket(j)
		for next := t.Next(last); next != nil; next = t.Next(last) {
			prev, last = last, next
		}
		if prev == nil {
			return
		}
		for used := last.Used(); used != 0; {
			hole, slot, ok := t.hole(j, last)
			if !ok {
				return
			}
			from := used.Next()
			hole.put(slot, last.Tag(from), last.Freq(from), last.Location(from))
			t.publish(t.Buckets())
			last.clear(from)
		}
		l := prev.link()
		prev.setLink(0)
		t.publish(t.Buckets())
		t.giveFree(l)
	}
}

// hole finds a free slot in the chain at bucket j before its last bucket.
func (t *Table) hole(j uint32, last *Bucket) (b *Bucket, slot int, ok bool) {
	for b = t.bucket(j); b != last; b = t.Next(b) {
		if m := b.Free(); m != 0 {
			return b, m.Next(), true
		}
	}
	return nil, 0, false
}

// LeastChunks is how many chunks an empty table keeps at most: one of the main
// part, one of overflow buckets, and one for the next growth.
const LeastChunks = 3

// Surplus takes back a chunk that the table no longer needs, beyond one that
// it keeps for the next growth. Chunks of overflow buckets come back together,
// when the main part has one chunk and no chain: until then a merge may need them.
func (t *Table) Surplus() (chunk uint32, ok bool) {
	if n := len(t.overflowChunks()); n > 1 && t.owned == 1 && t.freeLen == n*int(t.perChunk()) {
		t.spare = append(t.spare, t.overflowChunks()...)
		t.free, t.freeLen = 0, 0
		t.overflow.Store(&[]uint32{})
	}
	if len(t.spare) < 2 {
		return 0, false
	}
	return t.takeSpare()
}
