package ssd

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/health"
)

// dropCorrupt takes a damaged record out.
func (t *Tier) dropCorrupt(ref *recordRef) {
	t.count.corrupt.Add(1)
	t.health.Fault("a record's checksum is wrong", "segment", t.log.Serial(ref.lsn), "offset", ref.off)
	t.dropRef(ref)
}

// corruptHeader ends a read that found no header of a record. The disk
// works as it should: it is the record's fault.
func (t *Tier) corruptHeader(ref *recordRef) error {
	t.health.BadReads.OK()
	if !t.isCurrent(ref) {
		return ErrChanged
	}
	t.dropCorrupt(ref)
	return format.ErrCorrupt
}

// readFailed ends a read that brought no bytes. If that was the
// disk's fault it costs the record, and, if nothing else can be read either, the
// tier is switched off.
func (t *Tier) readFailed(ctx context.Context, ref *recordRef, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isSlow(err) || errors.Is(err, aio.ErrClosed):
		return err
	case !t.isCurrent(ref):
		return ErrChanged
	}
	t.count.readErrors.Add(1)
	t.health.Fault("a read failed", "error", err)
	again, row := t.health.BadReads.Add(ref.lsn)
	if again {
		t.dropRef(ref)
	}
	if row >= health.MaxRow && !t.readsElsewhere(ref.slot) {
		t.switchOff(fmt.Errorf("%d reads in a row failed: %w", row, err))
	}
	return err
}

// readsElsewhere reports whether the disk reads another segment than the one in a
// slot, or is too slow for an answer. It tries two, from half the log away on.
func (t *Tier) readsElsewhere(slot int) bool {
	tries := 2
	n := len(t.log.Slots)
	for i := range n {
		other := (slot + n/2 + i) % n
		serial := t.log.SlotWords[other].Serial.Load()
		if other == slot || serial == 0 || t.log.InMemory(other, serial) {
			continue
		}
		buf, err := t.reader.Try(background, t.reader.Deadline(), t.log.FileOffset(other, 0), files.BlockBytes)
		if err == nil {
			buf.Release()
			t.health.BadReads.OK()
		}
		if err == nil || isSlow(err) {
			return true
		}
		if tries--; tries == 0 {
			break
		}
	}
	return false
}
