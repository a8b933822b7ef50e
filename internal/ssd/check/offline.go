package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// ErrNoTier says that a directory has none of a tier's files.
var ErrNoTier = errors.New("ssd: no files of a cache")

// Problem is something that is not as it should be.
type Problem struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // in bytes from the file's start
	What   string `json:"what"`
}

func (p Problem) String() string {
	return fmt.Sprintf("%s, offset %d: %s", p.File, p.Offset, p.What)
}

// offline is a tier's files, as they are being read.
type offline struct {
	fs              vfs.FS
	report          func(Problem)    // called for every fault; not nil
	step            func(read int64) // called with the bytes that were read
	super           format.Superblock
	format.Geometry            // of the log
	ids             format.IDs // of its keys
	superblocks     [2]Superblock
	log             vfs.File
	logSize         int64
}

func (o *offline) problem(file string, off int64, what string, args ...any) {
	o.report(Problem{file, off, fmt.Sprintf(what, args...)})
}

// open opens a file for reading.
func (o *offline) open(name string) (f vfs.File, size int64, err error) {
	if f, err = o.fs.Open(name, vfs.OpenOptions{ReadOnly: true}); err != nil {
		return nil, 0, err
	}
	if size, err = f.Size(); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

func (o *offline) close() error {
	if o.log == nil {
		return nil
	}
	return o.log.Close()
}

// readAt is File.ReadAt that reports the bytes, and takes the end of the file
// for an error.
func (o *offline) readAt(f vfs.File, b []byte, off int64) error {
	return format.ReadFull(countedReader{o, f}, b, off)
}

// readSuperblock finds what the other files hold. An error means that they
// cannot be read without it.
func (o *offline) readSuperblock() error {
	f, size, err := o.open(format.SuperblockName)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoTier
	} else if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	c := format.Choice{Err: format.ErrCorrupt}
	for i := range o.superblocks {
		p, off := &o.superblocks[i], int64(i)*format.SuperblockBytes
		b := make([]byte, format.SuperblockBytes)
		if off+format.SuperblockBytes > size {
			p.State = "missing"
			o.problem(format.SuperblockName, off, "place %d of 2 is missing: the file has %d bytes", i+1, size)
			continue
		}
		if err := o.readAt(f, b, off); err != nil {
			p.State = "unreadable"
			o.problem(format.SuperblockName, off, "place %d of 2 cannot be read: %v", i+1, err)
			continue
		}
		s, err := format.DecodeSuperblock(b)
		c.Consider(s, err)
		switch {
		case errors.Is(err, format.ErrLater):
			p.State = "unknown version"
		case errors.Is(err, format.ErrOlder):
			p.State = "earlier version"
		case err != nil && format.AllZero(b):
			p.State = "empty"
			o.problem(format.SuperblockName, off, "place %d of 2 is empty", i+1)
		case err != nil:
			p.State = "damaged"
			o.problem(format.SuperblockName, off, "place %d of 2: the checksum or a value is wrong", i+1)
		default:
			*p = superblockInfo(&s)
		}
	}
	switch o.super = c.Superblock; {
	case errors.Is(c.Err, format.ErrCorrupt):
		return fmt.Errorf("ssd: no valid superblock: %w", c.Err)
	case c.Err != nil:
		return c.Err
	}
	o.Geometry, o.ids = o.super.Geometry(), o.super.IDs(0)
	return nil
}

// maxReported is how many problems of a kind in one place are reported one by one.
const maxReported = 10

// openLog opens the log.
func (o *offline) openLog() error {
	f, size, err := o.open(format.LogName)
	if err != nil {
		return err
	}
	o.log, o.logSize = f, size
	if want := int64(o.super.Segments * o.super.SegmentBytes); size < want {
		o.problem(format.LogName, size, "ends here; the superblock says %d bytes", want)
	}
	return nil
}

// slots is how many segments the log has room for, and the file has bytes for.
func (o *offline) slots() int {
	return int(min(int64(o.super.Segments), o.logSize/int64(o.super.SegmentBytes)))
}

// diskSegment is a segment as the ends of its slot describe it.
type diskSegment struct {
	format.Ends
	slot int
	err  error // the header cannot be read
}

// ends reads the header and the trailer of a slot.
func (o *offline) ends(slot int) (s diskSegment) {
	s.slot = slot
	head, tail := make([]byte, format.SegmentHeaderLen), make([]byte, format.TrailerLen)
	if s.err = o.readAt(o.log, head, o.FileOffset(slot, 0)); s.err != nil {
		head = nil
	}
	if err := o.readAt(o.log, tail, o.FileOffset(slot, o.SegmentBytes()-format.TrailerLen)); err != nil {
		tail = nil
	}
	s.Ends = format.ParseEnds(head, tail, o.super.LogID, o.SegmentBytes())
	return s
}

// scan calls f for every slot of the log.
func (o *offline) scan(ctx context.Context, f func(s diskSegment)) error {
	for slot := range o.slots() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(o.ends(slot))
	}
	return nil
}

// listOf is which records a segment has: by its own list, or for one that is
// not sealed, as far as they are whole.
func (o *offline) listOf(s diskSegment) (recs []format.Listed, err error) {
	if !s.Sealed() {
		b := make([]byte, o.SegmentBytes())
		if err := o.readAt(o.log, b, o.FileOffset(s.slot, 0)); err != nil {
			return nil, err
		}
		recs, _ = o.walk(b, s.Serial)
		return recs, nil
	}
	b := make([]byte, s.Trailer.ListLen)
	if err := o.readAt(o.log, b, o.FileOffset(s.slot, o.SegmentBytes()-format.TrailerLen-len(b))); err != nil {
		return nil, err
	}
	return format.ParseList(nil, b, s.Trailer, o.UnitShift)
}

// walk finds the records of a segment without its list.
func (o *offline) walk(b []byte, serial uint64) (recs []format.Listed, end int) {
	return format.Walk(b, o.super.LogID, serial, o.Geometry, &o.ids)
}

// snapshotFile is the file of a snapshot, and the part of it before the entries.
type snapshotFile struct {
	*format.Snapshot
	file vfs.File
	size int64
}

// openSnapshot opens the snapshot and reads the part before the entries.
func (o *offline) openSnapshot() (*snapshotFile, error) {
	f, size, err := o.open(format.SnapshotName)
	if err != nil {
		return nil, err
	}
	s, err := format.ReadSnapshot(countedReader{o, f}, size, &o.super)
	if errors.Is(err, format.ErrCorrupt) {
		err = errSnapshot
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, at := range s.Damaged {
		what := "one of the two fronts is damaged; the other is used"
		if at == s.RegistryAt() {
			what = "the registry's checksum is wrong: values with tags and the entries of namespaces are lost"
		}
		o.problem(format.SnapshotName, at, "%s", what)
	}
	return &snapshotFile{s, f, size}, nil
}

var errSnapshot = errors.New("the header or a checksum is wrong, or it belongs to another log")

// countedReader is a file that reports the bytes that are read.
type countedReader struct {
	*offline
	file vfs.File
}

func (c countedReader) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.file.ReadAt(b, off)
	c.step(int64(n))
	return n, err
}
