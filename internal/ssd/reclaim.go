package ssd

import (
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
)

// reclaim frees the slot of a segment, if there is need to. It reports whether it
// did.
func (t *Tier) reclaim() bool {
	if !t.mayReclaim() || t.work.telling.Load() && t.tells() {
		return false
	}
	v, ok := t.nextVictim()
	if !ok {
		return false
	}
	if v.Share > 0 && !t.emptySegment(&v) {
		return false
	}
	if t.log.Slots[v.Slot].Alive.Load() != 0 { // its list was not all
		t.dropSlot(v.Slot, t.leavers(v.Expired))
	}
	t.shares.Freed(v.Slot)
	t.log.FreeSlot(v.Slot)
	t.count.reclaimed.Add(1)
	return true
}

// mayReclaim reports whether segments may be reclaimed: the tier is on, or Close
// empties surplus slots.
func (t *Tier) mayReclaim() bool {
	return t.state.Load() == on || t.shrinking.Load() && !t.gaveUp.Load()
}

// nextVictim is the segment to be reclaimed: for a share that is full, for room if there is too
// little, and otherwise one in a surplus slot.
func (t *Tier) nextVictim() (v log.Victim, ok bool) {
	if v, ok = t.fullVictim(); ok {
		return v, true
	}
	crowded := t.index.TakeOverflowed()
	if t.log.FreeSlots() >= t.log.FreeTarget && !crowded {
		return t.log.ChooseSurplus()
	}
	if v, ok = t.log.ChooseVictim(crowded || !t.admission.MayRewrite()); !ok {
		return t.log.ChooseSurplus()
	}
	if crowded {
		t.warnIndexFull()
	}
	t.admission.Selective.Store(v.How == log.MoveRead)
	return v, true
}

// warnIndexFull logs, once, that the index has no room.
func (t *Tier) warnIndexFull() {
	t.warnedIndexFull.Do(func() {
		t.health.Warn("firn: SSD tier: its index has all the memory that it may take, and records leave before the log is full; more RAMBytes would help",
			"records", t.records(), "index_bytes", t.index.Limit.Load(), "free_segments", t.log.FreeSlots(), "segments", len(t.log.Slots))
	})
}

// updateSelective ends the choosing when there is room for all again: some segment may be
// cleaned, and the index has memory.
func (t *Tier) updateSelective() {
	if !t.admission.Selective.Load() || t.index.NearLimit() {
		return
	}
	if v, ok := t.log.ChooseVictim(false); ok && v.How != log.MoveRead {
		t.admission.Selective.Store(false)
	}
}

// emptySegment takes all records of a segment out of the index, or moves them to the end
// of the log. It reports false if the disk takes nothing meanwhile.
func (t *Tier) emptySegment(v *log.Victim) bool {
	defer t.tellEvicted()
	recs, err := t.listSealed(v.Slot, v.Serial)
	if err != nil && t.gaveUp.Load() {
		return false
	}
	if err != nil { // also of the last segments before a kill, which have none
		t.health.Fault("a segment's list could not be read", "segment", v.Serial, "error", err)
		t.count.readErrors.Add(1)
		t.dropSlot(v.Slot, t.leavers(v.Expired))
		return true
	}
	budget := t.log.SegmentBytes()
	switch v.How {
	case log.MoveRead:
		budget /= 2
	case log.DropAll:
		budget = 0
	}
	if !t.admission.MayRewrite() { // the day's writes are spent
		budget = 0
	}
	for len(recs) > 0 {
		n := t.batchOf(recs)
		kept, told, bytes := t.chooseKept(v, recs[:n], budget)
		t.evictRecords(v, told)
		if !t.moveRecords(v, kept) {
			return false
		}
		budget -= bytes
		recs = recs[n:]
	}
	return true
}

// chooseKept returns those of a segment's records that go to the end of the log, and how
// many bytes they have, which are at most budget; other live records it takes out of
// the index, or returns as told if the user is to be notified of them.
func (t *Tier) chooseKept(v *log.Victim, recs []format.Listed, budget int) (kept, told []format.Listed, bytes int) {
	tells := t.tells()
	for i := range recs {
		r := &recs[i]
		t.index.Prefetch(recs[min(i+prefetchAhead, len(recs)-1)].ID)
		s := t.index.ShardOf(r.ID)
		s.Mu.Lock()
		if at, e, ok := t.entryOfRecord(s, v, *r); ok {
			switch {
			case (v.How == log.MoveAll || e.Read()) && bytes+int(r.Bytes) <= budget:
				kept = append(kept, *r)
				bytes += int(r.Bytes)
			case tells:
				told = append(told, *r)
			default:
				t.evictEntry(s, r, at, e, v.Expired)
			}
		}
		s.Mu.Unlock()
	}
	return kept, told, bytes
}

// moveRecords appends records of a segment again. It reports false if the disk takes
// nothing meanwhile.
func (t *Tier) moveRecords(v *log.Victim, recs []format.Listed) bool {
	if len(recs) == 0 {
		return true
	}
	bytes, done := t.readRecords(v.Slot, v.Serial, recs)
	defer done()
	if t.gaveUp.Load() { // which may be why some could not be read
		return false
	}
	for i, r := range recs {
		for !t.moveRecord(v, r, bytes[i]) {
			if t.log.FreeSlots() == 0 { // and there will be none until this segment's is
				t.evictRecord(v, r, bytes[i], false)
				break
			}
			roomOrOff := func() bool { return t.log.RoomToMove() || !t.mayReclaim() } // retryLoop waits for this
			if !t.log.WaitFor(t.cfg.StallTimeout, roomOrOff) || !t.mayReclaim() {
				return false
			}
		}
	}
	return true
}

// moveRecord appends a record again, whose bytes are b, if the index still names
// it. It reports false if the log has no room.
func (t *Tier) moveRecord(v *log.Victim, l format.Listed, b []byte) bool {
	r, err := format.ParseRecord(b, format.Origin{Log: t.log.Number(), LSN: t.log.LSN(v.Serial, int(l.Offset))})
	if err != nil && b != nil {
		t.count.corrupt.Add(1)
	}
	if err != nil || t.expired(r.Deadline, true) {
		t.evictRecord(v, l, b, err == nil)
		return true
	}
	if t.isObsolete(&r) {
		t.dropObsolete(v, l)
		return true
	}
	share := t.shares.Of(r.Key)
	if share.Full() {
		t.evictRecord(v, l, b, false)
		t.count.shareEvicted.Add(1)
		return true
	}
	s := t.index.ShardOf(l.ID)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	at, e, ok := t.entryOfRecord(s, v, l)
	if !ok {
		return true
	}
	if t.isOrphan(s, &r) {
		t.evictEntry(s, &l, at, e, false)
		return true
	}
	loc, size, ok := t.log.Append(l.ID, &r, log.ForReclaim)
	if !ok {
		return false
	}
	t.countShare(share, loc, size)
	t.countDead(e)
	next := s.NewEntry(l.ID, loc, size, l.Kind)
	if v.How == log.MoveAll { // otherwise it has to be read again for another turn
		next |= e & format.ReadBit
	}
	s.Set(at, next)
	t.countPart(next)
	t.count.reinserted.Add(1)
	t.count.reinsertedBytes.Add(uint64(size))
	return true
}
