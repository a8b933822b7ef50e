package ssd

import (
	"cmp"
	"slices"

	"github.com/firncache/firn/internal/aio"
)

// found is a segment on the disk.
type found struct {
	slot    int
	serial  uint64
	trailer trailer
	sealed  bool
}

// rebuild makes an index of what the segments list, the newest record of each id,
// for RecoverAlways: nothing tells what of it was written again or deleted since.
func (t *Tier) rebuild() {
	segments, last := t.readEnds()
	slices.SortFunc(segments, func(a, b found) int { return cmp.Compare(b.serial, a.serial) })
	segments = slices.CompactFunc(segments, func(a, b found) bool { return a.serial == b.serial })
	records := 0
	for _, f := range segments {
		records += f.trailer.count
	}
	t.allow(int64(records)*10 + 64<<10)
	for _, f := range segments {
		recs, err := t.readList(f.slot, f.serial)
		if err != nil {
			t.count.corrupt.Add(1)
			continue
		}
		t.log.words[f.slot].serial.Store(f.serial)
		t.log.words[f.slot].until.Store(forever) // their deadlines stand in the records
		t.indexSegment(f, recs)
		t.skew.Store(max(t.skew.Load(), f.trailer.sealedAt-t.cfg.Now()))
	}
	// Segments that were not sealed may be there and not be readable: what is
	// written over them must not pass for them.
	const unseen = 16
	t.log.goOn(max(last+unseen, t.super.nextSeg))
}

// indexSegment indexes those of a segment's records, from its end to its beginning,
// whose ids have none yet.
func (t *Tier) indexSegment(f found, recs []listed) {
	for i := len(recs) - 1; i >= 0; i-- {
		r := &recs[i]
		t.index.prefetch(recs[max(i-prefetchAhead, 0)].id)
		s := t.index.shardOf(r.id)
		s.mu.Lock()
		e := s.entryOf(r.id, t.log.location(f.slot, int(r.offset)), int(r.bytes), r.kind)
		t.log.words[f.slot].written.Add(t.log.weight(e.class()))
		if _, ok := s.find(r.id); !ok && t.index.room(s) {
			s.put(e)
			t.named(e)
		}
		s.mu.Unlock()
	}
}

// prefetchAhead is how many records before its turn a record's place in the index
// begins to be loaded.
const prefetchAhead = 16

// readEnds reads the headers and trailers of all slots, and returns the segments
// that are sealed. last is the highest serial of any.
func (t *Tier) readEnds() (sealed []found, last uint64) {
	size := t.log.segBytes()
	const atOnce = 64
	reqs := make([]aio.Request, 0, 2*atOnce)
	for first := 0; first < len(t.log.slots); first += atOnce {
		reqs = reqs[:0]
		n := min(atOnce, len(t.log.slots)-first)
		for slot := first; slot < first+n; slot++ {
			base := int64(slot) << t.log.segShift
			reqs = append(reqs, aio.Request{Off: base, N: blockBytes}, aio.Request{Off: base + int64(size-blockBytes), N: blockBytes})
		}
		t.reader.ReadMany(background, reqs)
		for i := range n {
			f, serial := t.parseEnds(&reqs[2*i], &reqs[2*i+1])
			last = max(last, serial)
			if f.sealed {
				f.slot = first + i
				sealed = append(sealed, f)
			}
		}
		for i := range reqs {
			if b := reqs[i].Buf; b != nil {
				b.Release()
			}
		}
	}
	return sealed, last
}

// parseEnds tells which segment a slot has, and the highest serial that it names.
func (t *Tier) parseEnds(head, tail *aio.Request) (f found, last uint64) {
	size := t.log.segBytes()
	var ok bool
	if head.Err == nil {
		f.serial, ok = parseSegmentHeader(head.Buf.Bytes(), t.super.logID, size)
	}
	if tail.Err == nil {
		tr, sealed := parseTrailer(tail.Buf.Bytes()[blockBytes-trailerLen:], t.super.logID, size)
		last = tr.serial
		f.trailer, f.sealed = tr, sealed && ok && tr.serial == f.serial
	}
	if head.Err != nil || tail.Err != nil {
		t.count.readErrors.Add(1)
	}
	return f, max(last, f.serial)
}
