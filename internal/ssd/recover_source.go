package ssd

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
)

// decideSource reads the superblock, and plans where the index of the log that it describes
// comes from. If that log is not kept, why says so, and the superblock describes a new
// one.
func (t *Tier) decideSource() (why string, err error) {
	super, err := format.ReadSuperblock(t.super.file)
	switch {
	case t.cfg.Recovery == RecoverNever:
		why = "asked to"
	case errors.Is(err, ErrFormat):
		return "", err
	case errors.Is(err, format.ErrOlder):
		why = "an earlier version of this package wrote the files"
		t.removeOld("journal") // which version 1 had, and no later one counts
	case errors.Is(err, format.ErrCorrupt):
		why, t.noSuperblock = "no valid superblock", true
		if n, err := t.super.file.Size(); err == nil && n == 0 {
			why = "new"
		}
	case err != nil:
		return "", fmt.Errorf("ssd: superblock: %w", err)
	default:
		why = t.whyNotKept(&super)
	}
	if why == "" && !super.Clean {
		if err := t.findMemory(&super); err != nil {
			return "", err
		}
	}
	switch {
	case why != "":
	case super.Clean:
		t.source = fromSnapshot
	case t.leftMemory != nil:
		t.source = fromMemory
	case t.cfg.Recovery == RecoverAlways:
		t.source = fromLog
	default:
		why = "not closed, and the index did not outlive the process: the machine went down, or keeps no memory for it"
	}
	if why != "" {
		t.discardMemory(vfs.MemoryID(super.Memory))
		fresh := t.cfg.newSuperblock() // the old one's may not fit
		fresh.Counter, fresh.Budget = super.Counter, super.Budget
		t.super.Superblock, t.usable = fresh, int(fresh.Segments)
		return why, nil
	}
	t.usable = t.usableOf(&super)
	t.foundSegments = super.Segments
	super.Segments = max(super.Segments, uint64(t.usable))
	t.super.Superblock = super
	t.clock.skew.Store(super.Skew)
	t.clock.notBefore(super.LastTime)
	if t.leftMemory != nil {
		t.clock.goOn(t.leftMemory.Head)
	}
	return "", nil
}

// usableOf is how many segments of a log that is kept the files have room for. It gets
// more only if there is room beside as large an index as there may be.
func (t *Tier) usableOf(s *format.Superblock) int {
	entries := int64(0)
	if t.leftMemory != nil {
		for i := range t.leftMemory.ShardHeads() {
			entries += int64(t.leftMemory.ShardHeads()[i].Capacity.Load())
		}
	} else if f, err := t.cfg.FS.Open(format.SnapshotName, vfs.OpenOptions{ReadOnly: true}); err == nil {
		size, _ := f.Size()
		entries = size / 8
		_ = f.Close()
	}
	most := t.cfg.segmentsFor(int64(s.SegmentBytes), s.ShardBits, 0)
	return int(min(most, max(int64(s.Segments), t.cfg.segmentsFor(int64(s.SegmentBytes), s.ShardBits, entries))))
}

// whyNotKept says why a log cannot be kept, "" if it can. More space adds segments to
// it; the slots that less has no room for are emptied: see surplus.go.
func (t *Tier) whyNotKept(old *format.Superblock) string {
	switch {
	case old.Fingerprint != t.cfg.Fingerprint:
		return "it holds records of another shared tier, or of none"
	case t.cfg.SegmentBytes != 0 && uint64(t.cfg.SegmentBytes) != old.SegmentBytes:
		return fmt.Sprintf("segments have %d bytes, and %d are asked for", old.SegmentBytes, t.cfg.SegmentBytes)
	case segmentBuffers*int64(old.SegmentBytes) > t.cfg.Memory/4:
		return fmt.Sprintf("segments of %d bytes are too large for a RAM budget of %d", old.SegmentBytes, t.cfg.Memory)
	case log.SlotMemory*int64(old.Segments) > t.cfg.Memory/8 && old.Segments > minSegments:
		return fmt.Sprintf("%d segments are too many for a RAM budget of %d", old.Segments, t.cfg.Memory)
	}
	switch now := t.cfg.newSuperblockWith(int64(old.SegmentBytes)); {
	case now.Segments < minSegments:
		return fmt.Sprintf("its segments have %d bytes, and there is space for %d of them", old.SegmentBytes, now.Segments)
	case now.Segments*old.SegmentBytes>>old.UnitShift >= 1<<old.LocationBits:
		return "there is more space than its locations reach"
	case t.cfg.maxIndex() < index.MinBytes(1<<old.ShardBits):
		return fmt.Sprintf("an index of %d shards is too large for a RAM budget of %d", 1<<old.ShardBits, t.cfg.Memory)
	}
	return ""
}
