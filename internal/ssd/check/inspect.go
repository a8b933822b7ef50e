package check

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Inspect looks at the files in a directory. It changes nothing, and reads no
// more than headers, trailers and lists, and segments that were being written. If
// the lock is free it is held meanwhile, so that no process opens the files; if it is
// not, the files may change while they are read. Its error is ErrNoTier for a
// directory without files of a tier.
//
// It takes some hundred bytes of memory for each segment, and some MiB.
func Inspect(ctx context.Context, dir vfs.FS, step func(read int64)) (*Inspection, error) {
	in := &Inspection{Boot: files.BootID(), Problems: []Problem{}, Segments: []Segment{}}
	o := &offline{fs: dir, step: step, report: func(p Problem) { in.Problems = append(in.Problems, p) }}
	if step == nil {
		o.step = func(int64) {}
	}
	unlock, err := in.list(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	err = o.readSuperblock()
	in.Superblocks = o.superblocks
	switch {
	case errors.Is(err, format.ErrLater):
		in.Outlook = "an error: " + err.Error()
		return in, nil
	case errors.Is(err, format.ErrOlder):
		in.Outlook = "empty: an earlier version of the format"
		return in, nil
	case errors.Is(err, format.ErrCorrupt):
		in.Outlook = "an error, or empty: " + err.Error()
		return in, nil
	case err != nil:
		return nil, err
	}
	in.Superblock = superblockInfo(&o.super)
	if err := o.openLog(); err != nil {
		o.problem(format.LogName, 0, "cannot be opened: %v", err)
		in.Outlook = "empty: there is no log"
		return in, nil
	}
	defer func() { _ = o.close() }()
	in.Slots = int64(o.slots())
	live, err := in.segments(ctx, o)
	if err != nil {
		return nil, err
	}
	var slots []format.SlotState
	if in.Snapshot, slots = o.snapshotInfo(); in.Snapshot != nil && in.Snapshot.Believed {
		live = in.leaveOutFreed(live, slots)
	}
	var kept *files.Memory
	if in.Lock != "in use" {
		kept = openMemory(dir, &o.super)
	}
	if in.Memory = kept != nil; in.Memory {
		defer kept.Release()
		live = in.leaveOutFreed(live, slotsOf(kept))
	}
	if err := in.estimate(ctx, o, live, kept); err != nil {
		return nil, err
	}
	in.Outlook = in.outlook()
	return in, nil
}

// list names the files, and takes the lock if it can be had. A lock that is not
// there is not made.
func (in *Inspection) list(dir vfs.FS) (unlock func(), err error) {
	unlock = func() {}
	names, err := dir.List()
	if err != nil {
		return unlock, err
	}
	in.Lock = "free"
	for _, name := range names {
		f, err := dir.Open(name, vfs.OpenOptions{ReadOnly: true})
		if err != nil {
			in.Files = append(in.Files, File{name, -1})
			continue
		}
		size, err := f.Size()
		if err != nil {
			size = -1
		}
		_ = f.Close()
		in.Files = append(in.Files, File{name, size})
	}
	if !slices.Contains(names, format.SuperblockName) && !slices.Contains(names, format.LogName) {
		return unlock, ErrNoTier
	}
	take := files.LockDir
	if slices.Contains(names, format.LockName) {
		take = files.Lock
	}
	lock, err := take(dir)
	switch {
	case errors.Is(err, vfs.ErrLocked):
		in.Lock = "in use"
	case err != nil:
		in.Lock = "unknown"
	default:
		unlock = func() { _ = lock.Close() }
	}
	return unlock, nil
}

// segments lists the log's segments. It returns them newest first.
func (in *Inspection) segments(ctx context.Context, o *offline) (live []diskSegment, err error) {
	err = o.scan(ctx, func(e diskSegment) {
		switch {
		case e.err != nil:
			o.problem(format.LogName, o.FileOffset(e.slot, 0), "the header of slot %d cannot be read: %v", e.slot, e.err)
		case e.Foreign:
			in.Foreign++
		}
		if !e.HasHeader() {
			return
		}
		s := Segment{Slot: e.slot, Serial: e.Serial, State: "sealed"}
		if !e.Sealed() {
			s.State = "open"
			recs, _ := o.listOf(e) // the estimate reports an error
			s.Records = len(recs)
			for _, r := range recs {
				s.DataBytes += int(r.Bytes)
			}
		} else {
			s.Records = e.Trailer.Count
			s.DataBytes = e.Trailer.DataEnd - format.SegmentHeaderLen
			s.SealedAt = timeOf(e.Trailer.SealedAt)
		}
		s.Fill = float64(s.DataBytes) / float64(o.SegmentBytes())
		in.Segments = append(in.Segments, s)
		live = append(live, e)
		in.Live.LogBytes += int64(o.super.SegmentBytes)
	})
	slices.SortFunc(in.Segments, func(a, b Segment) int { return cmp.Compare(a.Serial, b.Serial) })
	slices.SortFunc(live, func(a, b diskSegment) int { return cmp.Compare(b.Serial, a.Serial) })
	return live, err
}

// leaveOutFreed returns those of the segments that an index names, by what it has
// of the slots.
func (in *Inspection) leaveOutFreed(live []diskSegment, slots []format.SlotState) []diskSegment {
	freed := func(slot int, serial uint64) bool { return slot >= len(slots) || slots[slot].Serial != serial }
	for i := range in.Segments {
		if s := &in.Segments[i]; freed(s.Slot, s.Serial) {
			s.State = "freed"
			in.Live.LogBytes -= in.Superblock.SegmentBytes
		}
	}
	return slices.DeleteFunc(live, func(e diskSegment) bool { return freed(e.slot, e.Serial) })
}

// maxSampled is how many ids an estimate follows at most.
const maxSampled = 1 << 18

// estimate finds out how much of the log is live: with the index that was kept, what that names.
func (in *Inspection) estimate(ctx context.Context, o *offline, live []diskSegment, kept *files.Memory) error {
	total := 0
	for _, s := range in.Segments {
		if s.State != "freed" {
			total += s.Records
		}
	}
	shift := 0
	for total>>shift > maxSampled {
		shift++
	}
	l := liveCounter{offline: o, mask: format.ID(1)<<shift - 1, seen: make(map[format.ID]bool, min(total, maxSampled))}
	indexed := int64(0)
	if kept != nil {
		indexed, l.named = entriesOf(kept, &o.super, l.mask)
	}
	for _, e := range live {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.segment(e)
	}
	in.Live.Sampled = 1 << shift
	in.Live.Records, in.Live.Bytes = l.records<<shift, l.bytes<<shift
	if s := in.Snapshot; s != nil && s.Believed {
		in.Live.Records = s.Records
	}
	if kept != nil {
		in.Live.Records = indexed
	}
	return nil
}

// liveCounter counts the newest records of the ids that end in zeros under a mask, or those that
// an index names.
type liveCounter struct {
	*offline
	mask           format.ID
	seen           map[format.ID]bool
	named          map[format.ID]format.Location // nil without an index
	records, bytes int64
}

func (l *liveCounter) segment(e diskSegment) {
	recs, err := l.listOf(e)
	if err != nil {
		l.problem(format.LogName, l.FileOffset(e.slot, 0), "segment %d: its list of records cannot be read: %v", e.Serial, err)
		return
	}
	for i := len(recs) - 1; i >= 0; i-- {
		r := recs[i]
		if l.named != nil && l.named[r.ID] != l.Location(e.slot, int(r.Offset)) {
			continue
		}
		if r.ID&l.mask == 0 && !l.seen[r.ID] && len(l.seen) < 4*maxSampled {
			l.seen[r.ID] = true
			l.records++
			l.bytes += int64(r.Bytes)
		}
	}
}

// snapshotInfo reads the header of the snapshot, nil if there is none that makes
// sense, and what it has of the slots.
func (o *offline) snapshotInfo() (info *SnapshotInfo, slots []format.SlotState) {
	s, err := o.openSnapshot()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		o.problem(format.SnapshotName, 0, "%v", err)
		return nil, nil
	}
	defer func() { _ = s.file.Close() }()
	believed := o.super.Clean && o.super.Snapshot == s.Number
	return &SnapshotInfo{Bytes: s.size, Number: s.Number, Records: s.Entries(), Places: max(len(s.Clocks)-1, 0), Believed: believed}, s.Slots
}
