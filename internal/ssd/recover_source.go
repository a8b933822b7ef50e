package ssd

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// decideSource reads the superblock, and plans where the index of the log that it describes
// comes from. If that log is not kept, why says so, and the superblock describes a new
// one.
func (t *Tier) decideSource() (why string, err error) {
	super, err := format.ReadSuperblock(t.super.file)
	var grown uint64
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
		grown, why = t.whyNotKept(&super)
	}
	switch {
	case why != "":
	case super.Clean:
		t.source = fromSnapshot
	case t.findMemory(&super):
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
		t.super.Superblock = fresh
		return why, nil
	}
	super.Segments = grown
	t.super.Superblock = super
	t.clock.skew.Store(super.Skew)
	t.clock.notBefore(super.LastTime)
	return "", nil
}

// whyNotKept says why a log cannot be kept, "" if it can: with another segment
// size, or in less space. More space is added to it: segments is how many it has
// then.
func (t *Tier) whyNotKept(old *format.Superblock) (segments uint64, why string) {
	switch {
	case old.Fingerprint != t.cfg.Fingerprint:
		return 0, "it holds records of another shared tier, or of none"
	case t.cfg.SegmentBytes != 0 && uint64(t.cfg.SegmentBytes) != old.SegmentBytes:
		return 0, fmt.Sprintf("segments have %d bytes, and %d are asked for", old.SegmentBytes, t.cfg.SegmentBytes)
	case segmentBuffers*int64(old.SegmentBytes) > t.cfg.Memory/4:
		return 0, fmt.Sprintf("segments of %d bytes are too large for a RAM budget of %d", old.SegmentBytes, t.cfg.Memory)
	}
	switch now := t.cfg.newSuperblockWith(int64(old.SegmentBytes)); {
	case now.Segments < old.Segments:
		return 0, fmt.Sprintf("it has %d segments, and there is space for %d", old.Segments, now.Segments)
	case now.Segments*old.SegmentBytes>>old.UnitShift >= 1<<old.LocationBits:
		return 0, "there is more space than its locations reach"
	case t.cfg.maxIndex() < minTables(1<<old.ShardBits):
		return 0, fmt.Sprintf("an index of %d shards is too large for a RAM budget of %d", 1<<old.ShardBits, t.cfg.Memory)
	default:
		return now.Segments, ""
	}
}
