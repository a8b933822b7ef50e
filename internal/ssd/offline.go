package ssd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs"
)

// Reading a tier's files without opening the tier: nothing is written, nothing
// found is believed before its checksum, and memory does not follow from sizes
// that the files claim.

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
	fs      vfs.FS
	report  func(Problem)    // told of what is wrong; not nil
	step    func(read int64) // told of bytes that were read
	super   superblock
	places  [2]Superblock
	log     vfs.File
	logSize int64
	hasher  record.Hasher
}

func (o *offline) problem(file string, off int64, what string, args ...any) {
	o.report(Problem{file, off, fmt.Sprintf(what, args...)})
}

// open opens a file for reading.
func (o *offline) open(name string) (f vfs.File, size int64, err error) {
	if f, err = o.fs.Open(name, vfs.How{ReadOnly: true}); err != nil {
		return nil, 0, err
	}
	if size, err = f.Size(); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

func (o *offline) layout() layout { return layout{o.super.locationBits} }

// id is the id that the tier gave a key.
func (o *offline) id(key []byte) id {
	return idOf(o.hasher.Hash(key)) & o.layout().told(uint(o.super.shardBits))
}

// idOf is the id that it gave a record.
func (o *offline) idOf(r *rec) id {
	if k, ok := parsePartKey(r.key); ok && r.kind() == isPart {
		return partID(k.owner, k.part, o.layout(), uint(o.super.shardBits))
	}
	return o.id(r.key)
}

func (o *offline) close() error {
	if o.log == nil {
		return nil
	}
	return o.log.Close()
}

// readAt is File.ReadAt that tells of the bytes, and takes the end of the file
// for an error.
func (o *offline) readAt(f vfs.File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	o.step(int64(n))
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// readSuperblock finds what the other files hold. An error means that they
// cannot be read without it.
func (o *offline) readSuperblock() error {
	f, size, err := o.open(superBlockOf)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoTier
	} else if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	c := choice{err: errCorrupt}
	for i := range o.places {
		p, off := &o.places[i], int64(i)*superSlot
		b := make([]byte, superSlot)
		if off+superSlot > size {
			p.State = "missing"
			o.problem(superBlockOf, off, "place %d of 2 is missing: the file has %d bytes", i+1, size)
			continue
		}
		if err := o.readAt(f, b, off); err != nil {
			p.State = "unreadable"
			o.problem(superBlockOf, off, "place %d of 2 cannot be read: %v", i+1, err)
			continue
		}
		s, err := decodeSuperblock(b)
		c.consider(s, err)
		switch {
		case errors.Is(err, ErrFormat):
			p.State = "unknown version"
		case errors.Is(err, errOlder):
			p.State = "earlier version"
		case err != nil && allZero(b):
			p.State = "empty"
			o.problem(superBlockOf, off, "place %d of 2 is empty", i+1)
		case err != nil:
			p.State = "damaged"
			o.problem(superBlockOf, off, "place %d of 2: the checksum or a value is wrong", i+1)
		default:
			*p = superblockInfo(&s)
		}
	}
	switch o.super = c.superblock; {
	case errors.Is(c.err, errCorrupt):
		return fmt.Errorf("ssd: no valid superblock: %w", c.err)
	case c.err != nil:
		return c.err
	}
	o.hasher = record.NewHasher(o.super.seed)
	return nil
}

func allZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

// mostOfAKind is how many problems of a kind in one place are told one by one.
const mostOfAKind = 10

// Geometry of the log, as the superblock has it.

func (o *offline) segBytes() int { return int(o.super.segBytes) }

func (o *offline) segShift() uint { return uint(bits.TrailingZeros64(o.super.segBytes)) }

func (o *offline) lsn(serial uint64, off int) uint64 { return serial<<o.segShift() + uint64(off) }

func (o *offline) location(slot, off int) location {
	return location((uint64(slot)<<o.segShift() + uint64(off)) >> o.super.unitShift)
}

func (o *offline) pad(n int) int {
	unit := 1 << o.super.unitShift
	return (n + unit - 1) &^ (unit - 1)
}

// openLog opens the log.
func (o *offline) openLog() error {
	f, size, err := o.open(logName)
	if err != nil {
		return err
	}
	o.log, o.logSize = f, size
	if want := int64(o.super.segments * o.super.segBytes); size < want {
		o.problem(logName, size, "ends here; the superblock says %d bytes", want)
	}
	return nil
}

// slots is how many segments the log has room for, and the file has bytes for.
func (o *offline) slots() int {
	return int(min(int64(o.super.segments), o.logSize/int64(o.super.segBytes)))
}

// segmentEnds is a segment as its header and trailer tell.
type segmentEnds struct {
	found
	header  bool  // the header is one of this log
	foreign bool  // it is one of another log
	blank   bool  // the first block is empty
	err     error // the header cannot be read
	tailErr error
}

// ends reads the header and the trailer of a slot.
func (o *offline) ends(slot int) (e segmentEnds) {
	size := o.segBytes()
	base := int64(slot) << o.segShift()
	b := make([]byte, segmentHeaderLen)
	e.slot = slot
	if e.err = o.readAt(o.log, b, base); e.err == nil {
		e.serial, e.header = parseSegmentHeader(b, o.super.logID, size)
		e.blank, e.foreign = allZero(b), !e.header && bytes.HasPrefix(b, []byte(segmentMagic))
	}
	if !e.header {
		e.serial = 0
	}
	b = b[:trailerLen]
	if e.tailErr = o.readAt(o.log, b, base+int64(size-trailerLen)); e.tailErr == nil {
		tr, ok := parseTrailer(b, o.super.logID, size)
		if ok && (!e.header || tr.serial == e.serial) {
			e.trailer, e.sealed = tr, true
		}
	}
	return e
}

// scan calls f for every slot of the log.
func (o *offline) scan(ctx context.Context, f func(e segmentEnds) error) error {
	for slot := range o.slots() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(o.ends(slot)); err != nil {
			return err
		}
	}
	return nil
}

// listOf is which records a segment has: as its own list tells, or for one that is
// not sealed, as far as they are whole.
func (o *offline) listOf(e segmentEnds) (recs []listed, err error) {
	base := int64(e.slot) << o.segShift()
	if !e.sealed {
		b := make([]byte, o.segBytes())
		if err := o.readAt(o.log, b, base); err != nil {
			return nil, err
		}
		recs, _ = o.walk(b, e.serial)
		return recs, nil
	}
	b := make([]byte, e.trailer.listLen)
	if err := o.readAt(o.log, b, base+int64(o.segBytes()-trailerLen-len(b))); err != nil {
		return nil, err
	}
	return parseList(nil, b, e.trailer, uint(o.super.unitShift))
}

// walk finds the records of a segment without its list.
func (o *offline) walk(b []byte, serial uint64) (recs []listed, end int) {
	return walk(b, o.super.logID, o.lsn(serial, 0), uint(o.super.unitShift), o.idOf)
}
