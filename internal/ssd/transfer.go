package ssd

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
)

// Transfer is a long value on its way here from RAM, part by part, or as a whole when
// there is room. Between two calls the lock that orders the writes of its key is not
// held; if the key is written meanwhile, Abort has to follow.
type Transfer struct {
	t          *Tier
	owner      format.ID
	head       format.Head // parts is 0 for a value in one record
	deadline   int64
	partsPut   int // parts
	pieceBytes int // bytes of each part but the last
	nextBytes  int // bytes that the next record may have
}

// Whole reports whether PutAll takes the value.
func (d *Transfer) Whole() bool { return d.head.Parts == 0 }

// PutAll takes over all at once. Its results are those of PutPart.
func (d *Transfer) PutAll(key, value []byte) (ok, again bool) {
	r := format.Record{Key: key, Value: value}
	if d.t.cfg.Compress {
		buf := d.t.compress(&r)
		defer release(buf)
	}
	if d.idTaken() || !d.t.admitsShare(d.t.shares.Of(key), len(key)+d.head.Bytes) {
		return false, false
	}
	return d.appendKeyed(&r)
}

// NextPart is how many bytes of the value the next part takes, and from where.
func (d *Transfer) NextPart() (from, n int) {
	from = d.partsPut * d.pieceBytes
	return from, max(min(d.pieceBytes, d.head.Bytes-from), 0)
}

// PutPart takes over a part. If it does not, again reports whether it may when the log has
// room.
func (d *Transfer) PutPart(piece []byte) (ok, again bool) {
	t, x := d.t, d.t.ids.Part(d.owner, d.partsPut)
	r := format.Record{Flags: format.FlagPart, Key: format.PartKey{Write: d.head.Write, Owner: d.owner, Part: d.partsPut}.Append(make([]byte, 0, format.PartKeyLen)), Value: piece}
	if t.cfg.Compress {
		buf := t.compress(&r)
		defer release(buf)
	}
	if ok, again = d.appendRecord(x, &r); ok {
		d.partsPut++
	}
	return ok, again
}

// Commit makes the value found, once all parts have been put. Its results are
// those of PutPart, and false if some part is there no more.
func (d *Transfer) Commit(key []byte) (ok, again bool) {
	if d.idTaken() || !d.hasAllParts() || !d.t.admitsShare(d.t.shares.Of(key), len(key)+d.head.Bytes) {
		return false, false
	}
	return d.appendKeyed(&format.Record{Flags: format.FlagHead, Key: key, Value: d.head.Append(make([]byte, 0, format.HeadLen))})
}

// idTaken reports whether another key with this id lives here by now.
func (d *Transfer) idTaken() bool {
	s := d.t.index.ShardOf(d.owner)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	_, taken := s.Find(d.owner)
	return taken
}

// hasAllParts reports whether all parts are there yet.
func (d *Transfer) hasAllParts() bool {
	s := d.t.index.ShardOf(d.owner)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for i := range d.head.Parts {
		if _, ok := s.Find(d.t.ids.Part(d.owner, i)); !ok {
			return false
		}
	}
	return true
}

// appendKeyed appends the record that has the key.
func (d *Transfer) appendKeyed(r *format.Record) (ok, again bool) {
	if ok, again = d.appendRecord(d.owner, r); ok {
		d.t.count.demoted.Add(1)
		d.t.count.demotedBytes.Add(uint64(len(r.Key) + d.head.Bytes))
		d.t.live.descents.Add(-1)
	}
	return ok, again
}

// appendRecord appends a record of the value, and makes the index name it.
func (d *Transfer) appendRecord(x format.ID, r *format.Record) (ok, again bool) {
	t := d.t
	if r.Deadline = d.deadline; r.Deadline != 0 {
		r.Flags |= format.FlagExpires
	}
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if t.state.Load() != on {
		return false, false
	}
	if !t.index.ReserveSlot(s) {
		t.work.wakeMaintenance()
		if again = t.index.LowOnMemory(); !again {
			t.count.indexFull.Add(1)
		}
		return false, again
	}
	loc, size, ok := t.log.Append(x, r, log.ForDemote)
	if !ok {
		t.work.wakeMaintenance()
		return false, true
	}
	if at, e, found := s.Search(s.FingerprintOf(x)); found { // of a write that was not ended, or another key's
		t.dropEntry(s, x, at, e)
	}
	if r.Kind() != format.IsPart { // the whole value counts where its key is
		t.countShare(t.shares.Of(r.Key), loc, max(size, len(r.Key)+d.head.Bytes))
	}
	e := s.NewEntry(x, loc, size, r.Kind())
	s.Put(e)
	t.countPart(e)
	return true, false
}

// Wait waits until the log has room for the next part, and the index, for as long as
// WaitForRoom does; patient, as long as the disk does something.
func (d *Transfer) Wait(waited time.Duration, patient bool) (inAll time.Duration, ok bool) {
	t, l := d.t, d.t.log
	patience := t.cfg.MaxWriteStall - waited
	if patient {
		patience = t.cfg.StallTimeout
	}
	now := l.Flushed.Load()
	if patience <= 0 || t.waits.stalledAtLSN.Load() == now+1 {
		return waited, false
	}
	began := time.Now()
	if ok = l.WaitFor(patience, func() bool { return l.HasRoom(d.nextBytes) || t.state.Load() != on }); !ok {
		t.waits.stalledAtLSN.Store(now + 1)
	}
	ok = ok && t.waitIndex(patience-time.Since(began))
	return waited + time.Since(began), ok
}

// Abort ends it without the value. late says that it came to that because the log
// had no room for too long.
func (d *Transfer) Abort(late bool) {
	t := d.t
	s := t.index.ShardOf(d.owner)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	t.dropParts(s, d.owner, d.partsPut)
	t.live.descents.Add(-1)
	if late {
		t.count.dropped.Add(1)
	}
}
