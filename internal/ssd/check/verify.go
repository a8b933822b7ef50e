package check

import (
	"context"
	"errors"
	"slices"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Verified is how much was checked.
type Verified struct {
	Segments int64 `json:"segments"` // that hold data
	Records  int64 `json:"records"`  // in them
	Entries  int64 `json:"entries"`  // of the snapshot
	Bytes    int64 `json:"bytes"`    // read
	Total    int64 `json:"-"`        // bytes to be read, while it goes on
	Problems int64 `json:"problems"`
}

// Verify reads everything in a directory and checks it: the superblock, every
// record of every segment, the lists and trailers, and the snapshot against the log. It
// changes nothing, and reports faults by calling report, and its
// progress by calling progress now and then; that may be nil. The files must not
// be in use: the error is vfs.ErrLocked then, ErrNoTier if there are none, and
// the context's if that ended.
//
// It takes memory for two segments, for the list of all segments, some hundred
// bytes each, and 64 MiB at most to compare the snapshot with the log.
func Verify(ctx context.Context, dir vfs.FS, report func(Problem), progress func(Verified)) (Verified, error) {
	v := &verifier{ctx: ctx, progress: progress}
	v.offline = offline{
		fs: dir,
		report: func(p Problem) {
			v.done.Problems++
			report(p)
		},
		step: v.read,
	}
	names, err := dir.List()
	if err != nil {
		return v.done, err
	}
	if slices.Contains(names, format.LockName) {
		lock, err := dir.Lock(format.LockName)
		if errors.Is(err, vfs.ErrLocked) {
			return v.done, err
		}
		if err == nil { // who may not lock may read all the same
			defer func() { _ = lock.Close() }()
		}
	}
	if !slices.Contains(names, format.SuperblockName) && !slices.Contains(names, format.LogName) {
		return v.done, ErrNoTier
	}
	err = v.all()
	return v.done, errors.Join(err, v.close())
}

type verifier struct {
	offline
	ctx      context.Context
	progress func(Verified)
	done     Verified
	toldAt   int64 // bytes at the last call of progress

	segs     []diskSegment // that are alive
	buf      []byte        // one segment
	snapshot *snapshotFile // nil: none that is to be compared with the log
	places   []placed      // of records that are to be compared with it, in the order of their locations
	from, to int           // the slots that these fill
	wrong    int           // entries of the snapshot
}

const progressBytes = 16 << 20 // bytes

func (v *verifier) read(n int64) {
	v.done.Bytes += n
	if v.progress != nil && v.done.Bytes-v.toldAt >= progressBytes {
		v.toldAt = v.done.Bytes
		v.progress(v.done)
	}
}

// all checks file after file.
func (v *verifier) all() error {
	err := v.readSuperblock()
	switch {
	case errors.Is(err, format.ErrLater), errors.Is(err, format.ErrOlder), errors.Is(err, format.ErrCorrupt), errors.Is(err, ErrNoTier):
		v.problem(format.SuperblockName, 0, "%v: nothing else can be read", err)
		return nil
	case err != nil:
		return err
	}
	if err := v.openLog(); err != nil {
		v.problem(format.LogName, 0, "cannot be opened: %v", err)
		return nil
	}
	v.findSnapshot()
	if v.snapshot != nil {
		defer func() { _ = v.snapshot.file.Close() }()
	}
	if err := v.findSegments(); err != nil {
		return err
	}
	v.findTwins()
	v.findNamed()
	v.buf = make([]byte, v.SegmentBytes())
	for _, e := range v.segs {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		v.segment(e)
		if len(v.places) >= maxPlaces {
			if err := v.compare(); err != nil {
				return err
			}
		}
	}
	return v.compareLast()
}

// findSegments reads the headers and trailers of all slots.
func (v *verifier) findSegments() error {
	return v.scan(v.ctx, func(e diskSegment) {
		base := v.FileOffset(e.slot, 0)
		switch {
		case e.err != nil:
			v.problem(format.LogName, base, "the header of slot %d cannot be read: %v", e.slot, e.err)
		case e.LostHeader():
			v.problem(format.LogName, base, "slot %d: the header is wrong; by its trailer it has segment %d", e.slot, e.Trailer.Serial)
		case e.HasHeader():
			v.segs = append(v.segs, e)
			v.done.Total += int64(v.super.SegmentBytes)
		}
	})
}

// findTwins finds segments that are there twice.
func (v *verifier) findTwins() {
	slots := map[uint64]int{}
	for _, e := range v.segs {
		if other, ok := slots[e.Serial]; ok {
			v.problem(format.LogName, v.FileOffset(e.slot, 0), "slots %d and %d both have segment %d", other, e.slot, e.Serial)
		}
		slots[e.Serial] = e.slot
	}
}

// findNamed finds the segments that the snapshot names.
func (v *verifier) findNamed() {
	if v.snapshot == nil {
		return
	}
	for slot, s := range v.snapshot.Slots {
		if serial := s.Serial; serial != 0 && !v.named(slot) {
			v.problem(format.SnapshotName, format.SnapshotHeaderLen+format.SlotWordsLen*int64(slot), "it names segment %d, which is not in slot %d", serial, slot)
		}
	}
}

// named reports whether the snapshot names the segment that a slot has.
func (v *verifier) named(slot int) bool {
	if v.snapshot == nil || slot >= len(v.snapshot.Slots) {
		return false
	}
	i, ok := slices.BinarySearchFunc(v.segs, slot, func(e diskSegment, slot int) int { return e.slot - slot })
	return ok && v.segs[i].Serial == v.snapshot.Slots[slot].Serial
}

// segment checks all that one segment holds.
func (v *verifier) segment(e diskSegment) {
	base := v.FileOffset(e.slot, 0)
	v.done.Segments++
	if err := v.readAt(v.log, v.buf, base); err != nil {
		v.problem(format.LogName, base, "segment %d cannot be read: %v", e.Serial, err)
		return
	}
	if !e.Sealed() {
		v.openSegment(e)
		return
	}
	at := v.SegmentBytes() - format.TrailerLen - e.Trailer.ListLen
	recs, err := format.ParseList(nil, v.buf[at:at+e.Trailer.ListLen], e.Trailer, v.UnitShift)
	if err != nil {
		v.problem(format.LogName, base+int64(at), "segment %d: the list of its records, or its checksum, is wrong", e.Serial)
		recs, end := v.walk(v.buf, e.Serial)
		if end != e.Trailer.DataEnd || len(recs) != e.Trailer.Count {
			v.problem(format.LogName, base+int64(end), "segment %d: record %d of %d is not whole", e.Serial, len(recs)+1, e.Trailer.Count)
		}
		v.addPlaces(e, recs)
		return
	}
	wrong := 0
	for i, r := range recs {
		if what := v.record(e, r); what != "" {
			if wrong++; wrong <= maxReported {
				v.problem(format.LogName, base+int64(r.Offset), "segment %d: record %d of %d: %s", e.Serial, i+1, len(recs), what)
			}
		}
	}
	if wrong > maxReported {
		v.problem(format.LogName, base, "segment %d: %d records are wrong, of which %d were told", e.Serial, wrong, maxReported)
	}
	v.addPlaces(e, recs)
}

// openSegment checks a segment without a list: its records end where the next is not
// whole. A process that died leaves such segments, but none that a snapshot names.
func (v *verifier) openSegment(e diskSegment) {
	base := v.FileOffset(e.slot, 0)
	recs, _ := v.walk(v.buf, e.Serial)
	if v.named(e.slot) {
		v.problem(format.LogName, base+int64(v.SegmentBytes()-format.TrailerLen), "segment %d: the trailer, or its checksum, is wrong", e.Serial)
	}
	v.addPlaces(e, recs)
}

// record checks one record against the list of its segment.
func (v *verifier) record(e diskSegment, l format.Listed) (wrong string) {
	r, err := format.ParseRecord(v.buf[l.Offset:l.Offset+l.Bytes], format.Origin{Log: v.super.LogID, LSN: v.LSN(e.Serial, int(l.Offset))})
	switch {
	case err != nil:
		return "the checksum or the form is wrong"
	case v.Pad(r.Size) != int(l.Bytes):
		return "it is not as long as the list of records says"
	case l.ID != v.ids.OfRecord(&r):
		return "the list of records has another key's id"
	case l.Kind != r.Kind():
		return "the list of records says that it is of another kind"
	}
	return ""
}
