package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/registry"
)

// The bytes of one of each form. What they are is in vectors_test.go.
var golden = map[string][]byte{
	"record":              goldenRecord(Record{Key: []byte("key"), Value: []byte("value")}),
	"record that expires": goldenRecord(Record{Flags: FlagExpires, Deadline: 1_700_000_000_123, Key: []byte("key"), Value: []byte("value")}),
	"segment header":      goldenBytes(SegmentHeaderLen, func(b []byte) { PutSegmentHeader(b, goldenLog, 7, 1<<20) }),
	"trailer":             goldenBytes(TrailerLen, func(b []byte) { goldenTrailer.Put(b, goldenLog) }),
	"list":                goldenList,
	"superblock":          goldenSuper.Encode()[:SuperblockLen],
	"snapshot":            goldenSnapshot.file(nil),
}

const goldenLog = 0x1122334455667788

var (
	goldenList    = AppendListed(AppendListed(nil, 0x0102030405, IsWhole, 3), 0, IsWhole, 200)
	goldenTrailer = Trailer{Count: 2, ListLen: len(goldenList), DataEnd: SegmentHeaderLen + 203*8, ListChecksum: Checksum(0, goldenList), Serial: 7, SealedAt: 1_700_000_000_123}
	goldenSuper   = Superblock{Counter: 4, LogID: goldenLog, Seed: 99, SegmentBytes: 1 << 20, Segments: 60, NextSegment: 8, Memory: MemoryID{Handle: 12, Key: 13},
		LastTime: 1_700_000_000_123, Snapshot: 77, UnitShift: 3, ShardBits: 2, LocationBits: 24, Clean: true, BootID: "9c1c2a6e-9d3b-4f0e-8a55-0123456789ab"}
)

// goldenSnapshot is of an empty index.
var goldenSnapshot = Snapshot{LogID: goldenLog, Number: 77, Slots: []SlotState{{}, {3, 960, 5}, {7, 96, Forever}}, Shards: make([]ShardPart, 4),
	Clocks: []registry.Words{{9, 8, 0, 64}, {3, 7, 0, 0, 0}, {63, 0, 8, 0, 0}}}

// file is a snapshot as it stands in its file, with these entries.
func (s *Snapshot) file(entries []byte) []byte {
	b := s.Encode()
	return slices.Concat(b, entries, s.Front(b))
}

func goldenRecord(r Record) []byte {
	b := make([]byte, MaxRecordHeader)
	b = b[:r.Put(b, r.BodyChecksum(), Origin{goldenLog, 7<<20 + 64})]
	return append(append(b, r.Key...), r.Value...)
}

func goldenBytes(n int, put func(b []byte)) []byte {
	b := bytes.Repeat([]byte{0xff}, n)
	put(b)
	return b
}

// Row 36, and 6: what was encoded is what is parsed; with any one bit changed, in
// another log or at another place of it, nothing is.
func TestFault36Parsed(t *testing.T) {
	o := Origin{goldenLog, 7<<20 + 64}
	parse := map[string]func(b []byte, o Origin) bool{
		"record": func(b []byte, o Origin) bool {
			r, err := ParseRecord(b, o)
			return err == nil && string(r.Key) == "key" && string(r.Value) == "value" && r.Deadline == 0 && r.Size == len(b)
		},
		"record that expires": func(b []byte, o Origin) bool {
			r, err := ParseRecord(b, o)
			return err == nil && string(r.Key) == "key" && string(r.Value) == "value" && r.Deadline == 1_700_000_000_123
		},
		"segment header": func(b []byte, o Origin) bool {
			serial, ok := parseSegmentHeader(b, o.Log, 1<<20)
			return ok && serial == 7
		},
		"trailer": func(b []byte, o Origin) bool {
			tr, ok := ParseTrailer(b, o.Log, 1<<20)
			return ok && tr == goldenTrailer
		},
		"list": func(b []byte, _ Origin) bool {
			recs, err := ParseList(nil, b, goldenTrailer, 3)
			return err == nil && len(recs) == 2 && recs[0] == Listed{ID: 0x0102030405, Offset: 64, Bytes: 24} && recs[1] == Listed{Offset: 88, Bytes: 1600}
		},
		"snapshot": func(b []byte, o Origin) bool {
			super := goldenSuper
			super.LogID, super.Segments = o.Log, 3
			s, err := ReadSnapshot(bytes.NewReader(b), int64(len(b)), &super)
			return err == nil && reflect.DeepEqual(*s, goldenSnapshot)
		},
		"superblock": func(b []byte, _ Origin) bool {
			s, err := DecodeSuperblock(b)
			return err == nil && s == goldenSuper
		},
	}
	for name, p := range parse {
		b := golden[name]
		if !p(b, o) {
			t.Errorf("%s: not parsed", name)
		}
		for bit := range len(b) * 8 {
			c := bytes.Clone(b)
			c[bit/8] ^= 1 << (bit % 8)
			if p(c, o) {
				t.Errorf("%s: parsed with bit %d of byte %d changed", name, bit%8, bit/8)
			}
		}
		for n := range b {
			if p(b[:n:n], o) {
				t.Errorf("%s: parsed with %d of %d bytes", name, n, len(b))
			}
		}
		if name != "list" && name != "superblock" && p(b, Origin{o.Log + 1, o.LSN}) {
			t.Errorf("%s: parsed in another log", name)
		}
	}
	if parse["record"](golden["record"], Origin{o.Log, o.LSN + 8}) {
		t.Error("record: parsed at another place")
	}
	if _, ok := ParseTrailer(golden["trailer"], goldenLog, goldenTrailer.DataEnd+TrailerLen); ok {
		t.Error("trailer: parsed in a segment that it does not fit")
	}
	if _, ok := parseSegmentHeader(golden["segment header"], goldenLog, 1<<21); ok {
		t.Error("segment header: parsed for segments of another size")
	}
}

// Version 1 took a superblock's 160 bytes for whole by the checksum at 12, and refused
// one of another version: it must not take those of later versions for damaged, and
// begin anew.
func TestSuperblockIsKnownToVersion1(t *testing.T) {
	t.Parallel()
	b := goldenSuper.Encode()
	if got, want := binary.LittleEndian.Uint32(b[12:]), Checksum(Checksum(0, b[:12]), b[16:160]); got != want {
		t.Errorf("checksum %x, for version 1 it is %x", got, want)
	}
	if version := binary.LittleEndian.Uint32(b[8:]); version != Version {
		t.Errorf("version %d", version)
	}
}

// Of two superblocks the newest is valid, whichever of the earlier versions wrote it;
// one of a later version is never passed over.
func TestChoiceOfSuperblock(t *testing.T) {
	t.Parallel()
	place := func(version uint32, counter uint64) []byte {
		s := goldenSuper
		s.Counter = counter
		b := s.Encode()
		binary.LittleEndian.PutUint32(b[8:], version)
		binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
		return b
	}
	damaged := place(Version, 9)
	damaged[20] ^= 1
	zeros := make([]byte, SuperblockBytes)
	for _, test := range []struct {
		name    string
		a, b    []byte
		counter uint64
		want    error
	}{
		{"two", place(Version, 4), place(Version, 5), 5, nil},
		{"one damaged", place(Version, 4), damaged, 4, nil},
		{"one empty", zeros, place(Version, 5), 5, nil},
		{"both damaged", damaged, zeros, 0, ErrCorrupt},
		{"earlier, and older", place(Version-1, 4), place(Version, 5), 5, nil},
		{"earlier, and newer", place(Version, 4), place(Version-1, 5), 5, ErrOlder},
		{"earlier, and damaged", damaged, place(Version-1, 3), 3, ErrOlder},
		{"later, and older", place(Version+1, 4), place(Version, 5), 0, ErrLater},
		{"later, and newer", place(Version, 4), place(Version+1, 5), 0, ErrLater},
		{"later and earlier", place(Version-1, 4), place(Version+1, 5), 0, ErrLater},
	} {
		for range 2 {
			s, err := ReadSuperblock(bytes.NewReader(slices.Concat(test.a, test.b)))
			if !errors.Is(err, test.want) || s.Counter != test.counter {
				t.Errorf("%s: counter %d, %v; want %d, %v", test.name, s.Counter, err, test.counter, test.want)
			}
			test.a, test.b = test.b, test.a
		}
	}
}
