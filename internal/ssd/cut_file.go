package ssd

import "github.com/firncache/firn/internal/ssd/format"

// keepRoom makes as many slots surplus as it takes to have room for the snapshot of the
// index.
func (t *Tier) keepRoom(must bool) {
	l := t.log
	n := t.cfg.segmentsFor(int64(l.SegmentBytes()), uint8(t.index.ShardBits), int64(t.index.Len()))
	l.KeepUsable(max(min(n, t.fileBytes.Load()>>l.SegmentShift), minSegments), must)
}

// overBudget reports whether the files take more than they may: the log of an earlier
// process had more segments.
func (t *Tier) overBudget() bool {
	return t.fileBytes.Load() > t.cfg.Bytes-2*format.SuperblockBytes
}

// cutFile cuts the log's file once the surplus slots are empty. First the superblock
// says so: a file that is longer than that is cut by the next Open.
func (t *Tier) cutFile() error {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	bytes := t.log.UsableBytes()
	if t.fileBytes.Load() <= bytes || t.log.InSurplus() || t.health.IsOffline() {
		return nil
	}
	err := t.super.replace(func(s *format.Superblock) { s.Segments = uint64(t.log.Usable.Load()) })
	if err != nil {
		return err
	}
	if err := t.logFile.Truncate(bytes); err != nil {
		return err
	}
	t.fileBytes.Store(bytes)
	return nil
}
