package ssd

import (
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/ssd/shares"
)

// SetShare limits the records of a namespace to a part of the log, 0 to 1. None has it before
// Shares().Begin.
func (t *Tier) SetShare(part float64) *shares.Share {
	bytes := float64(t.log.Usable.Load()) * float64(t.log.SegmentBytes())
	return t.shares.Add(int64(min(part, 1)*bytes), len(t.log.Slots), func(slot int) bool { return t.log.SlotWords[slot].Serial.Load() != 0 })
}

// Shares are those of the log.
func (t *Tier) Shares() *shares.Shares { return &t.shares }

// admitsShare reports whether the share of a record has room for it.
func (t *Tier) admitsShare(share *shares.Share, bytes int) bool {
	if share.Admits(bytes) {
		return true
	}
	t.count.overShare.Add(1)
	return false
}

// countShare counts a record at loc that was appended, before the lock of its id is given up: the
// slot keeps its segment until then.
func (t *Tier) countShare(share *shares.Share, loc format.Location, bytes int) {
	if slot, _ := t.log.Place(loc); share.Add(slot, bytes) {
		t.work.wakeMaintenance()
	}
}

// fullVictim is the segment to be reclaimed for a share that is full: the oldest that has little
// else. Where all have, the log is reclaimed for the others.
func (t *Tier) fullVictim() (v log.Victim, ok bool) {
	if !t.admission.MayRewrite() {
		return v, false
	}
	t.shares.Full(func(s *shares.Share) bool {
		v, ok = t.log.ChooseOf(s.In)
		return ok
	})
	return v, ok
}

const (
	sampledAtOnce  = 16  // segments
	sampledRecords = 256 // of each
)

// sampleShares estimates, for some segments that were written before a share was set, what the
// share has of them.
func (t *Tier) sampleShares() {
	for range sampledAtOnce {
		slot, ok := t.shares.Unsettled()
		if !ok {
			return
		}
		t.sampleSegment(slot)
	}
}

// sampleSegment counts the records in the middle of a segment for all of it.
func (t *Tier) sampleSegment(slot int) {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	found, sampled, all := map[*shares.Share]int64{}, int64(0), int64(0)
	defer func() {
		t.shares.Settle(slot, func(s *shares.Share) int64 { return all * found[s] / max(sampled, 1) })
	}()
	serial := t.log.SealedIn(slot)
	if serial == 0 {
		return
	}
	recs, err := t.listSealed(slot, serial)
	if err != nil || len(recs) == 0 { // reclaiming it will say why
		return
	}
	for _, l := range recs {
		all += int64(l.Bytes)
	}
	recs = recs[len(recs)/2:]
	recs = recs[:min(t.batchOf(recs), sampledRecords)]
	bytes, done := t.readRecords(slot, serial, recs)
	defer done()
	for i, l := range recs {
		r, err := format.ParseRecord(bytes[i], format.Origin{Log: t.log.Number(), LSN: t.log.LSN(serial, int(l.Offset))})
		if err != nil {
			continue
		}
		sampled += int64(l.Bytes)
		if s := t.shares.Of(r.Key); s != nil {
			found[s] += int64(l.Bytes)
		}
	}
}
