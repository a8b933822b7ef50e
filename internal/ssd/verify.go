package ssd

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"

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
// changes nothing, and tells of what is wrong by calling report, and of its
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
	if slices.Contains(names, lockName) {
		lock, err := dir.Lock(lockName)
		if errors.Is(err, vfs.ErrLocked) {
			return v.done, err
		}
		if err == nil { // who may not lock may read all the same
			defer func() { _ = lock.Close() }()
		}
	}
	if !slices.Contains(names, superBlockOf) && !slices.Contains(names, logName) {
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
	told     int64 // bytes at the last call of progress

	segs     []segmentEnds // that are alive
	buf      []byte        // one segment
	snapshot *snapshotFile // nil: none that is to be compared with the log
	places   []placed      // of records that are to be compared with it, in the order of their locations
	from, to int           // the slots that these fill
	wrong    int           // entries of the snapshot
}

const tellEvery = 16 << 20 // bytes

func (v *verifier) read(n int64) {
	v.done.Bytes += n
	if v.progress != nil && v.done.Bytes-v.told >= tellEvery {
		v.told = v.done.Bytes
		v.progress(v.done)
	}
}

// all checks file after file.
func (v *verifier) all() error {
	err := v.readSuperblock()
	switch {
	case errors.Is(err, ErrFormat), errors.Is(err, errOlder), errors.Is(err, errCorrupt), errors.Is(err, ErrNoTier):
		v.problem(superBlockOf, 0, "%v: nothing else can be read", err)
		return nil
	case err != nil:
		return err
	}
	if err := v.openLog(); err != nil {
		v.problem(logName, 0, "cannot be opened: %v", err)
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
	v.buf = make([]byte, v.segBytes())
	for _, e := range v.segs {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		v.segment(e)
		if len(v.places) >= mostPlaces {
			if err := v.compare(); err != nil {
				return err
			}
		}
	}
	return v.compareLast()
}

// findSegments reads the headers and trailers of all slots.
func (v *verifier) findSegments() error {
	return v.scan(v.ctx, func(e segmentEnds) error {
		base := int64(e.slot) << v.segShift()
		switch {
		case e.err != nil:
			v.problem(logName, base, "the header of slot %d cannot be read: %v", e.slot, e.err)
		case !e.header && e.sealed:
			v.problem(logName, base, "slot %d: the header is wrong; by its trailer it has segment %d", e.slot, e.trailer.serial)
		case e.header:
			v.segs = append(v.segs, e)
			v.done.Total += int64(v.super.segBytes)
		}
		return nil
	})
}

// findTwins finds segments that are there twice.
func (v *verifier) findTwins() {
	slots := map[uint64]int{}
	for _, e := range v.segs {
		if other, ok := slots[e.serial]; ok {
			v.problem(logName, int64(e.slot)<<v.segShift(), "slots %d and %d both have segment %d", other, e.slot, e.serial)
		}
		slots[e.serial] = e.slot
	}
}

// findNamed finds the segments that the snapshot names.
func (v *verifier) findNamed() {
	if v.snapshot == nil {
		return
	}
	for slot, serial := range v.snapshot.serials {
		if serial != 0 && !v.named(slot) {
			v.problem(snapshotName, snapshotHeaderLen+slotWordsLen*int64(slot), "it names segment %d, which is not in slot %d", serial, slot)
		}
	}
}

// named reports whether the snapshot names the segment that a slot has.
func (v *verifier) named(slot int) bool {
	if v.snapshot == nil || slot >= len(v.snapshot.serials) {
		return false
	}
	i, ok := slices.BinarySearchFunc(v.segs, slot, func(e segmentEnds, slot int) int { return e.slot - slot })
	return ok && v.segs[i].serial == v.snapshot.serials[slot]
}

// segment checks all that one segment holds.
func (v *verifier) segment(e segmentEnds) {
	base := int64(e.slot) << v.segShift()
	v.done.Segments++
	if err := v.readAt(v.log, v.buf, base); err != nil {
		v.problem(logName, base, "segment %d cannot be read: %v", e.serial, err)
		return
	}
	if !e.sealed {
		v.open(e)
		return
	}
	at := v.segBytes() - trailerLen - e.trailer.listLen
	recs, err := parseList(nil, v.buf[at:at+e.trailer.listLen], e.trailer, uint(v.super.unitShift))
	if err != nil {
		v.problem(logName, base+int64(at), "segment %d: the list of its records, or its checksum, is wrong", e.serial)
		recs, end := v.walk(v.buf, e.serial)
		if end != e.trailer.dataEnd || len(recs) != e.trailer.count {
			v.problem(logName, base+int64(end), "segment %d: record %d of %d is not whole", e.serial, len(recs)+1, e.trailer.count)
		}
		v.note(e, recs)
		return
	}
	wrong := 0
	for i, r := range recs {
		if what := v.record(e, r); what != "" {
			if wrong++; wrong <= mostOfAKind {
				v.problem(logName, base+int64(r.offset), "segment %d: record %d of %d: %s", e.serial, i+1, len(recs), what)
			}
		}
	}
	if wrong > mostOfAKind {
		v.problem(logName, base, "segment %d: %d records are wrong, of which %d were told", e.serial, wrong, mostOfAKind)
	}
	v.note(e, recs)
}

// open checks a segment without a list: its records end where the next is not whole.
// A process that died leaves such segments, but none that a snapshot names.
func (v *verifier) open(e segmentEnds) {
	base := int64(e.slot) << v.segShift()
	recs, _ := v.walk(v.buf, e.serial)
	if v.named(e.slot) {
		v.problem(logName, base+int64(v.segBytes()-trailerLen), "segment %d: the trailer, or its checksum, is wrong", e.serial)
	}
	v.note(e, recs)
}

// record checks one record against the list of its segment.
func (v *verifier) record(e segmentEnds, l listed) (wrong string) {
	r, err := parseRecord(v.buf[l.offset:l.offset+l.bytes], origin{v.super.logID, v.lsn(e.serial, int(l.offset))})
	switch {
	case err != nil:
		return "the checksum or the form is wrong"
	case v.pad(r.size) != int(l.bytes):
		return "it is not as long as the list of records says"
	case l.id != v.idOf(&r):
		return "the list of records has another key's id"
	case l.kind != r.kind():
		return "the list of records says that it is of another kind"
	}
	return ""
}

// placed is a record and where it lies.
type placed struct {
	loc   location
	id    id
	bytes uint32
}

// mostPlaces is how many records are compared with the snapshot at once, 24 bytes
// each.
const mostPlaces = 2 << 20

// note remembers the records of a segment for the comparison with the snapshot.
func (v *verifier) note(e segmentEnds, recs []listed) {
	v.done.Records += int64(len(recs))
	if v.snapshot == nil {
		return
	}
	if len(v.places) == 0 {
		v.from = e.slot
	}
	v.to = e.slot
	for _, r := range recs {
		v.places = append(v.places, placed{v.location(e.slot, int(r.offset)), r.id, r.bytes})
	}
}

// findSnapshot opens the snapshot that the superblock names.
func (v *verifier) findSnapshot() {
	s, err := v.openSnapshot()
	switch {
	case !v.super.clean || v.super.snapshot == 0: // one that is there is believed by nobody
		if err == nil {
			_ = s.file.Close()
		}
	case errors.Is(err, fs.ErrNotExist):
		v.problem(snapshotName, 0, "there is none, and the superblock names one")
	case err != nil:
		v.problem(snapshotName, 0, "%v", err)
	case s.number != v.super.snapshot:
		v.problem(snapshotName, 16, "it is not the one that the superblock names")
		_ = s.file.Close()
	default:
		v.snapshot = s
		v.done.Total += s.size
	}
}

// compare checks the entries of the snapshot that name the places noted, and
// forgets these.
func (v *verifier) compare() error {
	if v.snapshot == nil || len(v.places) == 0 {
		return nil
	}
	err := v.entries(func(shard int, off int64, e entry) {
		if slot := v.slotOf(e); slot >= v.from && slot <= v.to && v.named(slot) {
			v.entry(shard, off, e)
		}
	}, false)
	v.places = v.places[:0]
	return err
}

// compareLast compares what is left, and checks the snapshot on its own.
func (v *verifier) compareLast() error {
	if v.snapshot == nil {
		return nil
	}
	if err := v.compare(); err != nil {
		return err
	}
	return v.entries(func(shard int, off int64, e entry) {
		v.done.Entries++
		if slot := v.slotOf(e); v.layout().location(e) == 0 || !v.named(slot) {
			v.wrongEntry(off, "an entry of shard %d names slot %d, where there is no segment of it", shard, slot)
		}
	}, true)
}

// wrongEntry tells of an entry of the snapshot, if it is one of the first.
func (v *verifier) wrongEntry(off int64, what string, args ...any) {
	switch v.wrong++; {
	case v.wrong <= mostOfAKind:
		v.problem(snapshotName, off, what, args...)
	case v.wrong == mostOfAKind+1:
		v.problem(snapshotName, off, "and more entries that are wrong")
	}
}

func (v *verifier) slotOf(e entry) int {
	return int(uint64(v.layout().location(e)) << v.super.unitShift >> v.segShift())
}

// entry checks one entry of the snapshot against the places noted.
func (v *verifier) entry(shard int, off int64, e entry) {
	l := v.layout()
	loc := l.location(e)
	at, ok := slices.BinarySearchFunc(v.places, loc, func(p placed, loc location) int { return int(p.loc) - int(loc) })
	if !ok {
		v.wrongEntry(off, "an entry of shard %d names a place in slot %d where no record begins", shard, v.slotOf(e))
		return
	}
	p := v.places[at]
	most, bounded := e.mostBytes()
	switch {
	case int(p.id>>(idBits-v.super.shardBits)) != shard || l.fingerprintOf(p.id) != l.fingerprint(e):
		v.wrongEntry(off, "an entry of shard %d names another key's record", shard)
	case bounded && int(p.bytes) > most:
		v.wrongEntry(off, "an entry of shard %d says that its record has at most %d bytes: it has %d", shard, most, p.bytes)
	}
}

// entries calls f for all entries of the snapshot. check says that checksums and
// order are checked, too.
func (v *verifier) entries(f func(shard int, off int64, e entry), check bool) error {
	s, l := v.snapshot, v.layout()
	off := s.entriesAt
	buf := make([]byte, 1<<20)
	for shard := range s.dir {
		crc, prev, sorted := uint32(0), uint64(0), true
		start := off
		for left := int64(s.count(shard)); left > 0; {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			b := buf[:8*min(left, int64(len(buf)/8))]
			if err := v.readAt(s.file, b, off); err != nil {
				v.problem(snapshotName, off, "cannot be read: %v", err)
				return nil
			}
			crc = checksum(crc, b)
			for i := 0; i < len(b); i += 8 {
				e := entry(binary.LittleEndian.Uint64(b[i:]))
				fp := l.fingerprint(e)
				sorted = sorted && (fp > prev || off == start && i == 0)
				prev = fp
				f(shard, off+int64(i), e)
			}
			off += int64(len(b))
			left -= int64(len(b) / 8)
		}
		switch {
		case check && crc != s.crc(shard):
			v.problem(snapshotName, start, "shard %d: the checksum is wrong", shard)
		case check && !sorted:
			v.problem(snapshotName, start, "shard %d: its entries are not in order", shard)
		}
	}
	return nil
}
