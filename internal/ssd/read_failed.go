package ssd

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
)

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
	t.health.log("a read failed", "error", err)
	again, row := t.health.badReads.add(ref.lsn)
	if again {
		t.dropRef(ref)
	}
	if row >= maxBadReads && !t.readsElsewhere(ref.slot) {
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
			t.health.badReads.readOK()
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
