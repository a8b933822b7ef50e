package ssd

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// Inspection is what a directory holds, as far as headers and lists tell: values are
// not read. Times are in UTC.
type Inspection struct {
	Lock    string `json:"lock"` // "free", "in use", or "unknown"
	Files   []File `json:"files"`
	Boot    string `json:"boot"`    // of the system that looks; empty: it does not tell
	Memory  bool   `json:"memory"`  // the index that the superblock names is there
	Outlook string `json:"outlook"` // what a safe Open would do with the files

	Superblock  Superblock    `json:"superblock"`  // the valid one
	Superblocks [2]Superblock `json:"superblocks"` // what the two places have
	Segments    []Segment     `json:"segments"`    // those with a header of this log, oldest first
	Slots       int64         `json:"slots"`       // that the log's file has
	Foreign     int64         `json:"foreign"`     // slots with a segment of another log
	Snapshot    *SnapshotInfo `json:"snapshot"`    // nil: none
	Live        Live          `json:"live"`
	Problems    []Problem     `json:"problems"`
}

// File is a file of the directory.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Superblock is what one of the two places of the superblock has. Counter and
// what follows are set if it is valid.
type Superblock struct {
	State        string     `json:"state"` // "valid", "damaged", "empty", "missing", "unreadable", "earlier version", "unknown version"
	Version      int        `json:"version,omitempty"`
	Counter      uint64     `json:"counter,omitempty"`
	LogID        uint64     `json:"log_id,omitempty"`
	Seed         uint64     `json:"seed,omitempty"`
	SegmentBytes int64      `json:"segment_bytes,omitempty"`
	Segments     int64      `json:"segments,omitempty"`
	UnitBytes    int        `json:"unit_bytes,omitempty"`
	Shards       int        `json:"shards,omitempty"`
	LocationBits int        `json:"location_bits,omitempty"`
	NextSegment  uint64     `json:"next_segment,omitempty"` // of the last clean close
	LastTime     *time.Time `json:"last_time,omitempty"`    // of the last clean close
	Snapshot     uint64     `json:"snapshot,omitempty"`     // its number
	Clean        bool       `json:"clean,omitempty"`
	Boot         string     `json:"boot,omitempty"`
}

// Segment is one of the log's segments.
type Segment struct {
	Slot      int        `json:"slot"`
	Serial    uint64     `json:"serial"`
	State     string     `json:"state"`      // "sealed", "open", or "freed" if a snapshot that is believed does not name it
	Records   int        `json:"records"`    // of an open one, as far as they are whole
	DataBytes int        `json:"data_bytes"` // records, with their headers and padding
	Fill      float64    `json:"fill"`       // data / segment bytes
	SealedAt  *time.Time `json:"sealed_at,omitempty"`
}

// SnapshotInfo is the header of the snapshot.
type SnapshotInfo struct {
	Bytes    int64  `json:"bytes"`
	Number   uint64 `json:"number"`
	Records  int64  `json:"records"`
	Believed bool   `json:"believed"` // it is the one that the superblock names
}

// Live is what of the log may be live: of each id the newest record. What expired is
// among it, and what was deleted, for only the index tells that.
type Live struct {
	Records  int64 `json:"records"`   // as the snapshot says if it is believed, counted otherwise
	Bytes    int64 `json:"bytes"`     // of records, with headers and padding: counted
	LogBytes int64 `json:"log_bytes"` // of the segments, without those that were freed
	Sampled  int64 `json:"sampled"`   // one id of so many was counted; 1: all
}

func superblockInfo(s *superblock) Superblock {
	info := Superblock{
		State: "valid", Version: FormatVersion, Counter: s.counter, LogID: s.logID, Seed: s.seed,
		SegmentBytes: int64(s.segBytes), Segments: int64(s.segments),
		UnitBytes: 1 << s.unitShift, Shards: 1 << s.shardBits, LocationBits: int(s.locationBits),
		NextSegment: s.nextSeg, Snapshot: s.snapshot, Clean: s.clean, Boot: s.bootID,
	}
	if s.lastTime != 0 {
		info.LastTime = timeOf(s.lastTime)
	}
	return info
}

// timeOf is nil for what no calendar has.
func timeOf(millis int64) *time.Time {
	at := time.UnixMilli(millis).UTC()
	if at.Year() < 1970 || at.Year() > 9999 {
		return nil
	}
	return &at
}

// Inspect looks at the files in a directory. It changes nothing, and reads no
// more than headers, trailers and lists, and segments that were being written. If
// the lock is free it is held meanwhile, so that nobody opens the files; if it is
// not, the files may change while they are read. Its error is ErrNoTier for a
// directory without files of a tier.
//
// It takes some hundred bytes of memory for each segment, and some MiB.
func Inspect(ctx context.Context, dir vfs.FS, step func(read int64)) (*Inspection, error) {
	in := &Inspection{Boot: bootID(), Problems: []Problem{}, Segments: []Segment{}}
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
	in.Superblocks = o.places
	switch {
	case errors.Is(err, ErrFormat):
		in.Outlook = "an error: " + err.Error()
		return in, nil
	case errors.Is(err, errOlder):
		in.Outlook = "empty: an earlier version of the format"
		return in, nil
	case errors.Is(err, errCorrupt):
		in.Outlook = "an error, or empty: " + err.Error()
		return in, nil
	case err != nil:
		return nil, err
	}
	in.Superblock = superblockInfo(&o.super)
	if err := o.openLog(); err != nil {
		o.problem(logName, 0, "cannot be opened: %v", err)
		in.Outlook = "empty: there is no log"
		return in, nil
	}
	defer func() { _ = o.close() }()
	in.Slots = int64(o.slots())
	live, err := in.segments(ctx, o)
	if err != nil {
		return nil, err
	}
	var serials []uint64
	if in.Snapshot, serials = o.snapshotInfo(); in.Snapshot != nil && in.Snapshot.Believed {
		live = in.leaveOutFreed(live, serials)
	}
	if err := in.estimate(ctx, o, live); err != nil {
		return nil, err
	}
	in.Memory = in.Lock != "in use" && hasMemory(dir, &o.super)
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
		f, err := dir.Open(name, vfs.How{ReadOnly: true})
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
	if !slices.Contains(names, superBlockOf) && !slices.Contains(names, logName) {
		return unlock, ErrNoTier
	}
	take := lockDir
	if slices.Contains(names, lockName) {
		take = takeLocks
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
func (in *Inspection) segments(ctx context.Context, o *offline) (live []segmentEnds, err error) {
	err = o.scan(ctx, func(e segmentEnds) error {
		switch {
		case e.err != nil:
			o.problem(logName, int64(e.slot)<<o.segShift(), "the header of slot %d cannot be read: %v", e.slot, e.err)
		case e.foreign:
			in.Foreign++
		}
		if !e.header {
			return nil
		}
		s := Segment{Slot: e.slot, Serial: e.serial, State: "sealed"}
		if !e.sealed {
			s.State = "open"
			recs, _ := o.listOf(e) // an error is told by the estimate
			s.Records = len(recs)
			for _, r := range recs {
				s.DataBytes += int(r.bytes)
			}
		} else {
			s.Records = e.trailer.count
			s.DataBytes = e.trailer.dataEnd - segmentHeaderLen
			s.SealedAt = timeOf(e.trailer.sealedAt)
		}
		s.Fill = float64(s.DataBytes) / float64(o.segBytes())
		in.Segments = append(in.Segments, s)
		live = append(live, e)
		in.Live.LogBytes += int64(o.super.segBytes)
		return nil
	})
	slices.SortFunc(in.Segments, func(a, b Segment) int { return cmp.Compare(a.Serial, b.Serial) })
	slices.SortFunc(live, func(a, b segmentEnds) int { return cmp.Compare(b.serial, a.serial) })
	return live, err
}

// leaveOutFreed returns those of the segments that a snapshot names by the serials
// that the slots have.
func (in *Inspection) leaveOutFreed(live []segmentEnds, serials []uint64) []segmentEnds {
	freed := func(slot int, serial uint64) bool { return slot >= len(serials) || serials[slot] != serial }
	for i := range in.Segments {
		if s := &in.Segments[i]; freed(s.Slot, s.Serial) {
			s.State = "freed"
			in.Live.LogBytes -= in.Superblock.SegmentBytes
		}
	}
	return slices.DeleteFunc(live, func(e segmentEnds) bool { return freed(e.slot, e.serial) })
}

// mostSampled is how many ids an estimate follows at most.
const mostSampled = 1 << 18

// estimate finds out how much of the log is live.
func (in *Inspection) estimate(ctx context.Context, o *offline, live []segmentEnds) error {
	total := 0
	for _, s := range in.Segments {
		if s.State != "freed" {
			total += s.Records
		}
	}
	shift := 0
	for total>>shift > mostSampled {
		shift++
	}
	l := living{offline: o, mask: id(1)<<shift - 1, seen: make(map[id]bool, min(total, mostSampled))}
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
	return nil
}

// living counts the newest records of the ids that end in zeros under a mask.
type living struct {
	*offline
	mask           id
	seen           map[id]bool
	records, bytes int64
}

func (l *living) segment(e segmentEnds) {
	recs, err := l.listOf(e)
	if err != nil {
		l.problem(logName, int64(e.slot)<<l.segShift(), "segment %d: its list of records cannot be read: %v", e.serial, err)
		return
	}
	for i := len(recs) - 1; i >= 0; i-- {
		if r := recs[i]; r.id&l.mask == 0 && !l.seen[r.id] && len(l.seen) < 4*mostSampled {
			l.seen[r.id] = true
			l.records++
			l.bytes += int64(r.bytes)
		}
	}
}

// hasMemory reports whether the index of a log that was not closed outlived its
// process.
func hasMemory(dir vfs.FS, s *superblock) bool {
	keeper, ok := dir.(vfs.MemoryKeeper)
	if !ok || s.clean || s.memory == (vfs.MemoryID{}) {
		return false
	}
	m := openMemory(keeper, s.memory, s.logID)
	if m == nil {
		return false
	}
	m.release()
	return true
}

// snapshotInfo reads the header of the snapshot, nil if there is none that makes
// sense, and the serials that it has of the slots.
func (o *offline) snapshotInfo() (info *SnapshotInfo, serials []uint64) {
	s, err := o.openSnapshot()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		o.problem(snapshotName, 0, "%v", err)
		return nil, nil
	}
	defer func() { _ = s.file.Close() }()
	info = &SnapshotInfo{Bytes: s.size, Number: s.number, Believed: o.super.clean && o.super.snapshot == s.number}
	for i := range s.dir {
		info.Records += int64(s.count(i))
	}
	return info, s.serials
}

// snapshotFile is a snapshot of which all but the entries was read.
type snapshotFile struct {
	file    vfs.File
	size    int64
	number  uint64
	serials []uint64 // of the segments that the slots have; 0: none
	dir     []uint64 // for each shard: the number of its entries, and above it their checksum

	entriesAt int64
}

func (s *snapshotFile) count(shard int) uint32 { return uint32(s.dir[shard]) }
func (s *snapshotFile) crc(shard int) uint32   { return uint32(s.dir[shard] >> 32) }

var errSnapshot = errors.New("the header or a checksum is wrong, or it belongs to another log")

// openSnapshot opens the snapshot and reads its header.
func (o *offline) openSnapshot() (*snapshotFile, error) {
	f, size, err := o.open(snapshotName)
	if err != nil {
		return nil, err
	}
	s := &snapshotFile{file: f, size: size, dir: make([]uint64, 1<<o.super.shardBits)}
	if err := o.readSnapshotHead(s); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// readSnapshotHead reads what stands before the entries of a snapshot.
func (o *offline) readSnapshotHead(s *snapshotFile) error {
	b := make([]byte, snapshotHeaderLen)
	if err := o.readAt(s.file, b, 0); err != nil {
		return err
	}
	h, ok := parseSnapshotHead(b)
	if !ok || h.logID != o.super.logID || h.shardBits != uint32(o.super.shardBits) || uint64(h.slots) > o.super.segments {
		return errSnapshot
	}
	s.number = h.number
	s.entriesAt = snapshotHeaderLen + h.tablesLen()
	if s.entriesAt > s.size {
		return io.ErrUnexpectedEOF
	}
	b = make([]byte, h.tablesLen())
	if err := o.readAt(s.file, b, snapshotHeaderLen); err != nil {
		return err
	}
	slots, dir, ok := h.tables(b)
	if !ok {
		return errSnapshot
	}
	for ; len(slots) > 0; slots = slots[slotWordsLen:] {
		s.serials = append(s.serials, binary.LittleEndian.Uint64(slots))
	}
	want := s.entriesAt
	for i := range s.dir {
		s.dir[i] = binary.LittleEndian.Uint64(dir[8*i:])
		want += 8 * int64(s.count(i))
	}
	if want != s.size {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// outlook is what Open would do, if it were asked to be safe and for the same
// geometry.
func (in *Inspection) outlook() string {
	s := &in.Superblock
	switch {
	case in.Lock == "in use":
		return "locked: another has it open"
	case in.Snapshot != nil && in.Snapshot.Believed:
		return "warm, from the snapshot"
	case s.Clean:
		return "empty: there is no snapshot of the index"
	case in.Boot == "" || s.Boot == "":
		return "empty: it was not closed, and the system does not tell whether it was restarted since"
	case in.Boot != s.Boot:
		return "empty: it was not closed before the machine went down"
	case in.Memory:
		return "warm: it was not closed, and its index outlived the process"
	}
	return "empty: it was not closed, and its index did not outlive the process"
}
