package ssd

import (
	"cmp"
	"slices"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// foundSegment is a segment on the disk.
type foundSegment struct {
	format.Ends
	slot int
}

// rebuildFromLog makes an index of the records that the segments list, the newest of
// each id, for RecoverAlways: nothing says which of them were written again or
// deleted since.
func (t *Tier) rebuildFromLog() {
	segments, last := t.readEnds()
	slices.SortFunc(segments, func(a, b foundSegment) int { return cmp.Compare(b.Serial, a.Serial) })
	segments = slices.CompactFunc(segments, func(a, b foundSegment) bool { return a.Serial == b.Serial })
	records := 0
	for _, f := range segments {
		records += f.Trailer.Count
	}
	t.memory.allow(int64(records)*10 + 64<<10)
	for _, f := range segments {
		recs, err := t.readList(f.slot, f.Serial)
		if err != nil {
			t.count.corrupt.Add(1)
			continue
		}
		w := &t.log.SlotWords[f.slot]
		w.Serial.Store(f.Serial)
		w.Until.Store(format.Forever) // their deadlines stand in the records
		t.indexSegment(f, recs)
		t.clock.notBefore(f.Trailer.SealedAt)
	}
	// Segments that were not sealed may be there and not be readable: what is
	// written over them must not pass for them.
	const unseen = 16
	t.log.ResumeAt(max(last+unseen, t.super.NextSegment))
}

// indexSegment indexes those of a segment's records, from its end to its beginning,
// whose ids have none yet.
func (t *Tier) indexSegment(f foundSegment, recs []format.Listed) {
	for i := len(recs) - 1; i >= 0; i-- {
		r := &recs[i]
		t.index.Prefetch(recs[max(i-prefetchAhead, 0)].ID)
		s := t.index.ShardOf(r.ID)
		s.Mu.Lock()
		e := s.NewEntry(r.ID, t.log.Location(f.slot, int(r.Offset)), int(r.Bytes), r.Kind)
		t.log.SlotWords[f.slot].Written.Add(t.log.Weight(e.Class()))
		if _, ok := s.Find(r.ID); !ok && t.index.ReserveSlot(s) {
			s.Put(e)
			t.countLive(e)
		}
		s.Mu.Unlock()
	}
}

// prefetchAhead is how many records before its turn a record's place in the index
// begins to be loaded.
const prefetchAhead = 16

// readEnds reads the headers and trailers of all slots, and returns the segments
// that are sealed. last is the highest serial of any.
func (t *Tier) readEnds() (sealed []foundSegment, last uint64) {
	size := t.log.SegmentBytes()
	const atOnce = 64
	reqs := make([]aio.Request, 0, 2*atOnce)
	for first := 0; first < len(t.log.Slots); first += atOnce {
		reqs = reqs[:0]
		n := min(atOnce, len(t.log.Slots)-first)
		for slot := first; slot < first+n; slot++ {
			base := t.log.FileOffset(slot, 0)
			reqs = append(reqs, aio.Request{Off: base, N: files.BlockBytes}, aio.Request{Off: base + int64(size-files.BlockBytes), N: files.BlockBytes})
		}
		t.reader.ReadMany(background, reqs)
		for i := range n {
			e := t.parseEnds(&reqs[2*i], &reqs[2*i+1])
			last = max(last, e.LastSerial())
			if e.Sealed() {
				sealed = append(sealed, foundSegment{e, first + i})
			}
		}
		releaseAll(reqs)
	}
	return sealed, last
}

// parseEnds says which segment a slot has.
func (t *Tier) parseEnds(head, tail *aio.Request) format.Ends {
	if head.Err != nil || tail.Err != nil {
		t.count.readErrors.Add(1)
	}
	bytes := func(r *aio.Request) []byte {
		if r.Err != nil {
			return nil
		}
		return r.Buf.Bytes()
	}
	return format.ParseEnds(bytes(head), bytes(tail), t.super.LogID, t.log.SegmentBytes())
}
