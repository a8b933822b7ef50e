package check

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"

	"github.com/firncache/firn/internal/ssd/format"
)

// placed is a record and where it lies.
type placed struct {
	loc   format.Location
	id    format.ID
	bytes uint32
}

// maxPlaces is how many records are compared with the snapshot at once, 24 bytes
// each.
const maxPlaces = 2 << 20

// addPlaces remembers the records of a segment for the comparison with the snapshot.
func (v *verifier) addPlaces(e diskSegment, recs []format.Listed) {
	v.done.Records += int64(len(recs))
	if v.snapshot == nil {
		return
	}
	if len(v.places) == 0 {
		v.from = e.slot
	}
	v.to = e.slot
	for _, r := range recs {
		v.places = append(v.places, placed{v.Location(e.slot, int(r.Offset)), r.ID, r.Bytes})
	}
}

// findSnapshot opens the snapshot that the superblock names.
func (v *verifier) findSnapshot() {
	s, err := v.openSnapshot()
	switch {
	case !v.super.Clean || v.super.Snapshot == 0: // one that is there is not believed
		if err == nil {
			_ = s.file.Close()
		}
	case errors.Is(err, fs.ErrNotExist):
		v.problem(format.SnapshotName, 0, "there is none, and the superblock names one")
	case err != nil:
		v.problem(format.SnapshotName, 0, "%v", err)
	case s.Number != v.super.Snapshot:
		v.problem(format.SnapshotName, 16, "it is not the one that the superblock names")
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
	err := v.entries(func(shard int, off int64, e format.Entry) {
		if slot := v.slotOf(e); slot >= v.from && slot <= v.to && v.named(slot) {
			v.entry(shard, off, e)
		}
	}, false)
	v.places = v.places[:0]
	return err
}

// compareLast compares the rest, and checks the snapshot on its own.
func (v *verifier) compareLast() error {
	if v.snapshot == nil {
		return nil
	}
	if err := v.compare(); err != nil {
		return err
	}
	return v.entries(func(shard int, off int64, e format.Entry) {
		v.done.Entries++
		if slot := v.slotOf(e); v.super.Layout().Location(e) == 0 || !v.named(slot) {
			v.wrongEntry(off, "an entry of shard %d names slot %d, where there is no segment of it", shard, slot)
		}
	}, true)
}

// wrongEntry reports an entry of the snapshot, if it is one of the first.
func (v *verifier) wrongEntry(off int64, what string, args ...any) {
	switch v.wrong++; {
	case v.wrong <= maxReported:
		v.problem(format.SnapshotName, off, what, args...)
	case v.wrong == maxReported+1:
		v.problem(format.SnapshotName, off, "and more entries that are wrong")
	}
}

func (v *verifier) slotOf(e format.Entry) int {
	slot, _ := v.Place(v.super.Layout().Location(e))
	return slot
}

// entry checks one entry of the snapshot against the places noted.
func (v *verifier) entry(shard int, off int64, e format.Entry) {
	l := v.super.Layout()
	loc := l.Location(e)
	at, ok := slices.BinarySearchFunc(v.places, loc, func(p placed, loc format.Location) int { return int(p.loc) - int(loc) })
	if !ok {
		v.wrongEntry(off, "an entry of shard %d names a place in slot %d where no record begins", shard, v.slotOf(e))
		return
	}
	p := v.places[at]
	most, bounded := l.MaxBytes(e)
	switch {
	case int(p.id>>(format.IDBits-v.super.ShardBits)) != shard || l.FingerprintOf(p.id) != l.Fingerprint(e):
		v.wrongEntry(off, "an entry of shard %d names another key's record", shard)
	case bounded && int(p.bytes) > most:
		v.wrongEntry(off, "an entry of shard %d says that its record has at most %d bytes: it has %d", shard, most, p.bytes)
	}
}

// entries calls f for all entries of the snapshot. check says that checksums and
// order are checked, too.
func (v *verifier) entries(f func(shard int, off int64, e format.Entry), check bool) error {
	s, l := v.snapshot, v.super.Layout()
	off := s.EntriesAt()
	buf := make([]byte, 1<<20)
	for shard, part := range s.Shards {
		crc, prev, sorted := uint32(0), uint64(0), true
		start := off
		for left := int64(part.Entries); left > 0; {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			b := buf[:8*min(left, int64(len(buf)/8))]
			if err := v.readAt(s.file, b, off); err != nil {
				v.problem(format.SnapshotName, off, "cannot be read: %v", err)
				return nil
			}
			crc = format.Checksum(crc, b)
			for i := 0; i < len(b); i += 8 {
				e := format.Entry(binary.LittleEndian.Uint64(b[i:]))
				fp := l.Fingerprint(e)
				sorted = sorted && (fp > prev || off == start && i == 0)
				prev = fp
				f(shard, off+int64(i), e)
			}
			off += int64(len(b))
			left -= int64(len(b) / 8)
		}
		switch {
		case check && crc != part.Checksum:
			v.problem(format.SnapshotName, start, "shard %d: the checksum is wrong", shard)
		case check && !sorted:
			v.problem(format.SnapshotName, start, "shard %d: its entries are not in order", shard)
		}
	}
	return nil
}
