package ssd

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// findMemory looks for the index that the last process left, which did not close
// the log that super describes. It reports false if there is none, or none that
// can be believed.
func (t *Tier) findMemory(super *format.Superblock) bool {
	boot := t.cfg.BootID()
	if t.keeper == nil || super.Memory == (format.MemoryID{}) || boot == "" || boot != super.BootID {
		return false
	}
	m := files.OpenMemory(t.keeper, vfs.MemoryID(super.Memory), super.LogID)
	if m == nil {
		return false
	}
	if uint64(m.Slots) != super.Segments || m.Shards != 1<<super.ShardBits || 1<<m.SegmentShift != super.SegmentBytes || m.UnitShift != super.UnitShift || m.LocationBits != super.LocationBits {
		m.Release()
		return false
	}
	t.left = m
	return true
}

// discardMemory removes what a process left that did not close, where the log is not
// kept.
func (t *Tier) discardMemory(id vfs.MemoryID) {
	if t.keeper == nil || id == (vfs.MemoryID{}) {
		return
	}
	if m, err := t.keeper.OpenMemory(id); err == nil {
		_ = errors.Join(m.Remove(), m.Close())
	}
}

// attachers is how many goroutines look through an index that was left, or load
// one.
const attachers = 2

// attach goes on with the index that was left. What the last process had in its
// own memory is not on the disk, and its entries go. If that index is for a log or
// a budget of another size than this one's, the entries move to memory of that
// size.
func (t *Tier) attach() {
	x, l, left := t.index, t.log, t.left
	from := x
	if left != x.Memory {
		from = newIndex(x.shardBits, left, true)
		copyWords(l.words, left.SlotWords())
		t.allow(from.tableBytes())
	} else {
		x.allowed.Store(x.most)
	}
	there := l.onDisk(left.Head.Flushed.Load())
	var group sync.WaitGroup
	for k := range attachers {
		group.Go(func() {
			var kept []uint64
			for i := k; i < len(x.shards); i += attachers {
				kept = t.attachShard(&x.shards[i], &from.shards[i], kept[:0], there)
			}
		})
	}
	group.Wait()
	t.settle(left.Head.Flushed.Load())
	if from == x {
		x.used.Store(x.tableBytes())
		x.allowed.Store(x.used.Load())
	}
	l.goOn(left.Head.Next.Load())
	t.clock.notBefore(left.Head.Now.Load())
}

// attachShard makes what a shard's table has, from the same memory or another, the
// shard's. It returns kept, the entries that it used.
func (t *Tier) attachShard(s, from *shard, kept []uint64, there func(format.Location) bool) []uint64 {
	kept, whole := from.survivors(kept, there)
	if s != from || !whole {
		s.reset()
		t.load(s, kept)
		return kept
	}
	s.adopt(len(kept))
	for _, w := range kept {
		t.named(format.Entry(w))
	}
	return kept
}

func copyWords(to, from []format.SlotWords) {
	for i := range min(len(to), len(from)) {
		to[i].Serial.Store(from[i].Serial.Load())
		to[i].Written.Store(from[i].Written.Load())
		to[i].Until.Store(from[i].Until.Load())
	}
}

// onDisk returns what tells whether an entry names a record that was written before
// an LSN.
func (l *log) onDisk(flushed uint64) func(format.Location) bool {
	return func(loc format.Location) bool {
		slot, off := l.Place(loc)
		if slot >= len(l.words) || off < format.SegmentHeaderLen {
			return false
		}
		serial := l.words[slot].Serial.Load()
		return serial != 0 && l.LSN(serial, off) < flushed
	}
}

// tableBytes is what the tables take.
func (x *index) tableBytes() (bytes int64) {
	for i := range x.shards {
		bytes += 8 * int64(x.shards[i].homes+shardSlack)
	}
	return bytes
}

// adopt makes a table that was found whole, with so many entries, the shard's.
func (s *shard) adopt(count int) {
	s.slots = s.all[:s.homes+shardSlack]
	s.size.Store(uint32(s.homes))
	s.count, s.tight = count, true
}

// survivors appends those of a shard's entries to kept that are there, in order. It
// reports whether that is what the table holds, each in its place: if not, it was
// being changed when the process died, or has entries that are not there.
func (s *shard) survivors(kept []uint64, there func(format.Location) bool) (_ []uint64, whole bool) {
	if s.homes < leastHomes || s.homes+shardSlack > len(s.all) || s.head.Moving.Load() != 0 {
		return kept, false
	}
	whole = true
	next, last := 0, int64(-1)
	for at, w := range s.all[:s.homes+shardSlack] {
		e := format.Entry(w)
		switch fp := int64(s.Fingerprint(e)); {
		case e == 0:
		case s.Location(e) == 0 || !there(s.Location(e)):
			whole = false
		default:
			whole = whole && fp > last && at == max(s.home(uint64(fp)), next)
			last, next = fp, at+1
			kept = append(kept, w)
		}
	}
	if !whole {
		kept = s.once(kept)
	}
	return kept, whole
}

// once sorts entries, and keeps one of each fingerprint.
func (s *shard) once(entries []uint64) []uint64 {
	compare := func(a, b uint64) int {
		return cmp.Compare(s.Fingerprint(format.Entry(a)), s.Fingerprint(format.Entry(b)))
	}
	slices.SortStableFunc(entries, compare)
	return slices.CompactFunc(entries, func(a, b uint64) bool { return compare(a, b) == 0 })
}
