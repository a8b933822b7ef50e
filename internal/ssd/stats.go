package ssd

import (
	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/format"
)

// Stats is a snapshot of a tier.
type Stats struct {
	Hits            uint64 // reads that found a value
	Collisions      uint64 // reads that found another key with the same id
	Collided        uint64 // records that went for another key's with the same id
	Demoted         uint64 // records taken over from RAM
	DemotedBytes    uint64 // their keys and values
	AlreadyOnSSD    uint64 // records that left RAM and were here already
	Rejected        uint64 // records that admission did not let in, for their worth
	Limited         uint64 // for the write budget
	OverShare       uint64 // for their namespace's share
	Dropped         uint64 // the log had no room: the disk is too slow
	IndexFull       uint64 // the index had no memory, or not yet
	TooLarge        uint64 // for their size: more than one part in longShare of the log
	Invalidated     uint64 // records that died because their key was written, or because they were obsolete
	Evicted         uint64 // records dropped when their segment was reclaimed, or could not be kept
	ShareEvicted    uint64 // of these, those for which their namespace's share had no room
	Expired         uint64 // records dropped then because they were known to be past their grace
	Reinserted      uint64 // records kept then, having been read
	ReinsertedBytes uint64
	Reclaimed       uint64 // segments
	WrittenBytes    uint64 // to all files
	Corrupt         uint64 // records and segments whose checksums were wrong
	ReadErrors      uint64
	WriteErrors     uint64
	Quarantined     uint64 // segments abandoned
	SwitchedOff     uint64 // times the tier was switched off
	CompressedFrom  uint64 // bytes of values before compression
	CompressedTo    uint64 // and after

	WriteBudget   int64   // bytes a day; 0: no limit
	WrittenDay    int64   // bytes written in this hour and the 23 before, by earlier processes too
	WriteForecast int64   // bytes a day, if it goes on as in the last hour
	AdmittedShare float64 // of the bytes that were worth it, that the budget let in in the last hour

	Online       bool
	Direct       bool
	Kept         bool // the index is in memory that outlives the process
	Records      int64
	Segments     int64 // that the log has
	FreeSegments int64
	FileBytes    int64 // of all files
	IndexBytes   int64
	MemoryBytes  int64 // index, buffers, bookkeeping
	Reads        aio.Stats
}

// Stats takes a snapshot.
func (t *Tier) Stats() Stats {
	c, b := &t.count, t.admission.Budget.Stats()
	s := Stats{
		Hits: c.hits.Load(), Collisions: c.collisions.Load(), Collided: c.collided.Load(),
		Demoted: c.demoted.Load(), DemotedBytes: c.demotedBytes.Load(), AlreadyOnSSD: c.alreadyOnSSD.Load(),
		Rejected: c.rejected.Load(), Limited: b.Refused, OverShare: c.overShare.Load(), Dropped: c.dropped.Load(), IndexFull: c.indexFull.Load(), TooLarge: c.tooLarge.Load(),
		Invalidated: c.invalidated.Load(),
		Evicted:     c.evicted.Load(), ShareEvicted: c.shareEvicted.Load(), Expired: c.expired.Load(), Reinserted: c.reinserted.Load(), ReinsertedBytes: c.reinsertedBytes.Load(),
		Reclaimed:    c.reclaimed.Load(),
		WrittenBytes: c.written.Load(),
		WriteBudget:  b.Day, WrittenDay: b.Written, WriteForecast: b.Forecast, AdmittedShare: b.Admitted,
		Corrupt: c.corrupt.Load(), ReadErrors: c.readErrors.Load(), WriteErrors: c.writeErrors.Load(),
		Quarantined: c.quarantined.Load(), SwitchedOff: c.switchedOff.Load(),
		CompressedFrom: c.compressedFrom.Load(), CompressedTo: c.compressedTo.Load(),
		Online: t.state.Load() == on, Direct: t.logFile.Align() > 1, Kept: t.index.Kept != nil,
		Segments: t.log.Usable.Load(), FreeSegments: int64(t.log.FreeSlots()),
		FileBytes:  t.fileBytes.Load() + 2*format.SuperblockBytes,
		IndexBytes: t.index.Used.Load(), MemoryBytes: t.memory.total(),
		Reads: t.reader.Stats(),
	}
	s.Rejected -= min(s.Rejected, s.Limited) // of which one may be a moment ahead
	if s.Online {
		s.Records = int64(t.records())
	}
	return s
}
