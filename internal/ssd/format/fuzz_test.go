package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

func FuzzRecord(f *testing.F) {
	for _, name := range []string{"record", "record that expires"} {
		f.Add(golden[name])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := ParseHeader(b); err == nil && (r.Size < 0 || r.valueAt < r.keyLen || r.Size < r.valueAt) {
			t.Fatalf("%+v", r)
		}
		o := Origin{1, 2}
		if len(b) > 5 { // with a checksum that is right
			b = bytes.Clone(b)
			if r, err := ParseHeader(b); err == nil && r.Size <= len(b) {
				keyAt := r.valueAt - r.keyLen
				binary.LittleEndian.PutUint32(b, o.Seal(Checksum(Checksum(0, b[keyAt:r.Size]), b[4:keyAt])))
			}
		}
		r, err := ParseRecord(b, o)
		if err != nil {
			return
		}
		if len(r.Key) != r.keyLen || r.Size > len(b) {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add(goldenList, uint32(2), uint32(goldenTrailer.DataEnd), uint8(3))
	f.Fuzz(func(t *testing.T, list []byte, count, dataEnd uint32, shift uint8) {
		tr := Trailer{Count: int(count), ListLen: len(list), DataEnd: int(dataEnd), ListChecksum: Checksum(0, list)}
		recs, err := ParseList(nil, list, tr, MinUnitShift+uint(shift)%14)
		if len(recs)*(IDLen+1) > len(list) {
			t.Fatalf("%d records in %d bytes", len(recs), len(list))
		}
		at := uint32(SegmentHeaderLen)
		for _, r := range recs {
			if r.Offset != at || r.Bytes == 0 {
				t.Fatalf("%+v at %d", r, at)
			}
			at += r.Bytes
		}
		if err == nil && at != dataEnd {
			t.Fatalf("ends at %d, want %d", at, dataEnd)
		}
	})
}

func FuzzTrailer(f *testing.F) {
	f.Add(golden["trailer"], golden["segment header"], uint64(goldenLog))
	f.Fuzz(func(t *testing.T, b, head []byte, logID uint64) {
		const size = 1 << 20
		if len(b) == TrailerLen { // with a checksum that is right
			b = bytes.Clone(b)
			copy(b[36:], trailerMagic)
			binary.LittleEndian.PutUint32(b[44:], Origin{logID, binary.LittleEndian.Uint64(b[16:])}.Seal(Checksum(0, b[:44])))
		}
		if tr, ok := ParseTrailer(b, logID, size); ok && (tr.ListLen < 0 || tr.DataEnd+tr.ListLen+TrailerLen > size) {
			t.Fatalf("%+v", tr)
		}
		if serial, ok := parseSegmentHeader(head, logID, size); ok && serial == 0 {
			t.Fatal("serial 0")
		}
	})
}

func FuzzSuperblock(f *testing.F) {
	f.Add(goldenSuper.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= SuperblockLen { // with a checksum that is right
			b = bytes.Clone(b)
			copy(b, SuperblockMagic)
			binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
		}
		s, err := DecodeSuperblock(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrLater) && !errors.Is(err, ErrOlder) {
				t.Fatal(err)
			}
			return
		}
		if again, err := DecodeSuperblock(s.Encode()); err != nil || again != s {
			t.Fatalf("%+v, encoded and decoded: %+v, %v", s, again, err)
		}
	})
}

// What ReadSnapshot takes for a snapshot has entries for just its length.
func FuzzReadSnapshot(f *testing.F) {
	super := goldenSuper
	super.Segments = 3
	f.Add(goldenSnapshot.file(nil), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, more uint16) {
		if front := goldenSnapshot.RegistryAt(); int64(len(b)) >= front { // with checksums that are right
			b = bytes.Clone(b)
			copy(b, SnapshotMagic)
			binary.LittleEndian.PutUint64(b[8:], goldenLog)
			binary.LittleEndian.PutUint32(b[24:], uint32(super.ShardBits))
			binary.LittleEndian.PutUint32(b[32:], 3)
			binary.LittleEndian.PutUint32(b[60:], Checksum(Checksum(0, b[:60]), b[SnapshotHeaderLen:front]))
		}
		size := int64(len(b)) + int64(more)
		s, err := ReadSnapshot(bytes.NewReader(b), size, &super)
		if err != nil {
			return
		}
		if offs := s.Offsets(); len(s.Shards) != 1<<super.ShardBits || offs[0] != s.EntriesAt() || offs[len(offs)-1] != size-s.RegistryAt() {
			t.Fatalf("%d bytes: %+v", size, s)
		}
	})
}

// What lies in the ends of a slot is of this log, or it is nothing.
func FuzzEnds(f *testing.F) {
	f.Add(golden["segment header"], golden["trailer"])
	f.Fuzz(func(t *testing.T, head, tail []byte) {
		e := ParseEnds(head, tail, goldenLog, 1<<20)
		if e.Sealed() && (e.LostHeader() || e.Foreign || e.LastSerial() != e.Serial) {
			t.Fatalf("%+v", e)
		}
	})
}

// The shape in a memory's head fits into the memory, or is not taken.
func FuzzMemoryHead(f *testing.F) {
	f.Add(uint64(4), uint64(1), uint64(128), uint64(16|3<<8|16<<16|7<<24), 1<<16)
	f.Fuzz(func(t *testing.T, slots, shards, stride, shifts uint64, size int) {
		h := MemoryHead{Magic: memoryMagic, LogID: goldenLog, Shape: [4]uint64{slots, shards, stride, shifts}}
		h.Valid.Store(1)
		shape, ok := h.Parse(goldenLog, size)
		if !ok || shape.Shards == 0 {
			return
		}
		if last := int(shape.Shards) - 1; shape.TableAt(last)+8*shape.Stride > uint64(size) || shape.HeadsAt() > shape.TableAt(0) {
			t.Fatalf("%+v in %d bytes", shape, size)
		}
	})
}
