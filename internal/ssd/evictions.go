package ssd

import (
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
)

// tells reports whether records that are evicted have to be read first.
func (t *Tier) tells() bool { return t.cfg.Evictions != nil && t.cfg.Evictions.Wanted() }

// tellEvicted notifies the user of the records evicted since the last call. Until that has
// returned no segment is reclaimed, unless no listener is left, so that the records still to
// be reported are no more than a segment has.
func (t *Tier) tellEvicted() {
	if t.cfg.Evictions == nil {
		return
	}
	tell := t.cfg.Evictions.Evicted()
	if tell == nil {
		return
	}
	t.work.telling.Store(true)
	t.work.detached.Go(func() {
		defer t.work.wakeMaintenance()
		defer t.work.telling.Store(false)
		tell()
	})
}

// evictRecords takes records of a segment out of the index that the user is to be notified
// of. Values in parts come first, which are read whole with any of their parts.
func (t *Tier) evictRecords(v *log.Victim, recs []format.Listed) {
	whole := recs[:0]
	for _, l := range recs {
		if l.Kind == format.IsPart {
			t.evictRecord(v, l, nil, v.Expired)
		} else {
			whole = append(whole, l)
		}
	}
	if len(whole) == 0 {
		return
	}
	bytes, done := t.readRecords(v.Slot, v.Serial, whole)
	defer done()
	for i, l := range whole {
		t.evictRecord(v, l, bytes[i], v.Expired)
	}
}

// evictRecord takes a record of a segment out of the index, if that still names it. The user
// is notified of it on request; b are its bytes. expired is what is known without
// them.
func (t *Tier) evictRecord(v *log.Victim, l format.Listed, b []byte, expired bool) {
	if t.tells() {
		if r, ok := t.wholeRecord(v, l, b); ok {
			expired = t.expired(r.Deadline, true)
			t.cfg.Evictions.Evict(r.Key, r.Value, expired, func() bool { return t.takeRecord(v, l, expired) })
			return
		}
	}
	t.takeRecord(v, l, expired)
}

// takeRecord takes a record of a segment out of the index. It reports false if that does
// not name it any more.
func (t *Tier) takeRecord(v *log.Victim, l format.Listed, expired bool) bool {
	s := t.index.ShardOf(l.ID)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	at, e, ok := t.entryOfRecord(s, v, l)
	return ok && t.evictEntry(s, &l, at, e, expired)
}

// wholeRecord is a record of a segment, of which b are the bytes, with all of its value: of
// a part, and of a head, the one that the user has stored. It reports false if that
// cannot be read.
func (t *Tier) wholeRecord(v *log.Victim, l format.Listed, b []byte) (r format.Record, ok bool) {
	ref := recordRef{id: l.ID, slot: v.Slot, off: int(l.Offset), lsn: t.log.LSN(v.Serial, int(l.Offset)), loc: t.log.Location(v.Slot, int(l.Offset)), waits: true}
	if l.Kind == format.IsPart {
		if ref, b, ok = t.readHead(l.ID); !ok {
			return r, false
		}
	}
	r, err := format.ParseRecord(b, format.Origin{Log: t.log.Number(), LSN: ref.lsn})
	if err != nil {
		return r, false
	}
	switch {
	case r.Flags&format.FlagCompressed != 0:
		r.Value, err = expand(nil, r.Value)
	case r.Kind() == format.IsHead:
		r.Value, err = t.valueOf(nil, &ref, &r)
	}
	return r, err == nil
}

// readHead reads the head of the value that a part belongs to.
func (t *Tier) readHead(part format.ID) (ref recordRef, b []byte, ok bool) {
	if ref, ok = t.locateHead(part); !ok {
		return ref, nil, false
	}
	if seg := t.log.Pin(ref.slot, t.log.Serial(ref.lsn)); seg != nil {
		defer t.log.Unpin(seg)
		return ref, append(b, seg.Buf[ref.off:seg.Limit()]...), true
	}
	buf, view, err := t.fetch(background, &ref)
	if err != nil {
		t.count.readErrors.Add(1)
		t.health.Fault("a record that was to be evicted could not be read", "segment", t.log.Serial(ref.lsn), "error", err)
		return ref, nil, false
	}
	defer buf.Release()
	return ref, append(b, view...), true
}

// locateHead finds the head of the value that a part belongs to.
func (t *Tier) locateHead(part format.ID) (ref recordRef, ok bool) {
	s := t.index.ShardOf(part)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	x, _, e, ok := t.ownerOf(s, part)
	if ok {
		ref.id, ref.waits = x, true
		t.resolve(s, &ref, e)
	}
	return ref, ok
}
