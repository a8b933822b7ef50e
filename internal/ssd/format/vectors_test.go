package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/registry"
)

const (
	vectorLog    = 0x1122334455667788
	vectorSeed   = 0x0123456789abcdef
	vectorSize   = 64 << 10
	vectorSerial = 7
	vectorUnit   = 3
)

func vectorOrigin(off int) Origin { return Origin{vectorLog, vectorSerial*vectorSize + uint64(off)} }

var hexBlock = regexp.MustCompile("(?s)```hex ([a-z-]+)\n(.*?)```")

// vectors are the hex blocks of the document, by name. Whatever a test does not
// take is left over.
func vectors(t *testing.T) map[string][]byte {
	t.Helper()
	doc, err := os.ReadFile("testdata/vectors.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, m := range hexBlock.FindAllStringSubmatch(string(doc), -1) {
		b, err := hex.DecodeString(strings.Join(strings.Fields(m[2]), ""))
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		all[m[1]] = b
	}
	return all
}

// takeVector is the vector with a name, which has to be what was encoded.
func takeVector(t *testing.T, all map[string][]byte, name string, encoded []byte) []byte {
	t.Helper()
	want, ok := all[name]
	if !ok {
		t.Errorf("%s: not in testdata/vectors.md", name)
	}
	delete(all, name)
	if !bytes.Equal(encoded, want) {
		t.Errorf("%s: encoded %x, the document has %x", name, encoded, want)
	}
	return want
}

func TestVectors(t *testing.T) {
	all := vectors(t)
	if got := Checksum(0, []byte("123456789")); got != 0xe3069283 {
		t.Errorf("checksum %x", got)
	}
	takeVector(t, all, "seal", binary.LittleEndian.AppendUint32(nil, vectorOrigin(64).Seal(0)))
	takeVector(t, all, "id", AppendID(nil, vectorID("glacier")))
	vectorOfSuperblock(t, all)
	vectorsOfSegment(t, all)
	vectorOfSnapshot(t, all)
	for name := range all {
		t.Errorf("%s: nothing tests this vector", name)
	}
}

func vectorID(key string) ID {
	h := record.NewHasher(vectorSeed)
	return IDOf(h.Hash([]byte(key)))
}

func vectorOfSuperblock(t *testing.T, all map[string][]byte) {
	super := Superblock{
		Counter: 3, LogID: vectorLog, Seed: vectorSeed, SegmentBytes: vectorSize, Segments: 60,
		NextSegment: 9, Memory: MemoryID{Handle: 163840, Key: 0xfedcba9876543210}, LastTime: 1700000000000, Skew: 5000, Snapshot: 55, UnitShift: vectorUnit, ShardBits: 2, LocationBits: 20,
		Clean: true, BootID: "01234567-89ab-cdef-0123-456789abcdef",
	}
	place := super.Encode()
	if len(place) != SuperblockBytes || !AllZero(place[superBudgetAt:superBudgetAt+BudgetLen]) {
		t.Errorf("superblock: %d bytes, or something of a budget behind %d", len(place), SuperblockLen)
	}
	b := takeVector(t, all, "superblock", place[:SuperblockLen])
	if got, err := DecodeSuperblock(b); err != nil || got != super {
		t.Errorf("superblock: decoded %+v, %v", got, err)
	}
}

func vectorsOfSegment(t *testing.T, all map[string][]byte) {
	head := make([]byte, SegmentHeaderLen)
	PutSegmentHeader(head, vectorLog, vectorSerial, vectorSize)
	b := takeVector(t, all, "segment", head)
	if serial, ok := parseSegmentHeader(b, vectorLog, vectorSize); !ok || serial != vectorSerial {
		t.Errorf("segment: parsed %d, %v", serial, ok)
	}

	blue := bytes.Repeat([]byte("ice "), 128)
	packed := compressedVector(t, all, blue)
	at, list := SegmentHeaderLen, []byte(nil)
	var want []Listed
	for _, v := range []struct {
		name string
		id   ID
		rec  Record
	}{
		{"record", vectorID("glacier"), Record{Key: []byte("glacier"), Value: []byte("ice")}},
		{"record-deadline", vectorID("firn"), Record{Flags: FlagExpires, Deadline: 1700000060000, Key: []byte("firn"), Value: []byte("last year's snow")}},
		{"record-compressed", vectorID("blue"), Record{Flags: FlagCompressed, Key: []byte("blue"), Value: packed}},
	} {
		size := vectorOfRecord(t, all, v.name, &v.rec, at)
		list = AppendListed(list, v.id, IsWhole, uint32(size>>vectorUnit))
		want = append(want, Listed{ID: v.id, Offset: uint32(at), Bytes: uint32(size)})
		at += size
	}

	list = takeVector(t, all, "list", list)
	tr := Trailer{Count: 3, ListLen: len(list), DataEnd: at, ListChecksum: Checksum(0, list), Serial: vectorSerial, SealedAt: 1700000000500}
	b = make([]byte, TrailerLen)
	tr.Put(b, vectorLog)
	b = takeVector(t, all, "trailer", b)
	if got, ok := ParseTrailer(b, vectorLog, vectorSize); !ok || got != tr {
		t.Errorf("trailer: parsed %+v, %v", got, ok)
	}
	if got, err := ParseList(nil, list, tr, vectorUnit); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("list: parsed %+v, %v", got, err)
	}
}

// compressedVector is the S2 block in the document: a later compressor may make
// another of the same value.
func compressedVector(t *testing.T, all map[string][]byte, value []byte) []byte {
	t.Helper()
	r, err := ParseRecord(all["record-compressed"], vectorOrigin(128))
	if err != nil {
		t.Errorf("record-compressed: %v", err)
		return s2.Encode(nil, value)
	}
	if got, err := s2.Decode(nil, r.Value); err != nil || !bytes.Equal(got, value) {
		t.Errorf("record-compressed: decoded %q, %v", got, err)
	}
	return bytes.Clone(r.Value)
}

// vectorOfRecord tests one record, and returns its length with the padding.
func vectorOfRecord(t *testing.T, all map[string][]byte, name string, r *Record, at int) int {
	t.Helper()
	l := Geometry{16, vectorUnit}
	b := make([]byte, l.Pad(r.HeaderLen()+len(r.Key)+len(r.Value)))
	n := r.Put(b, r.BodyChecksum(), vectorOrigin(at))
	n += copy(b[n:], r.Key)
	copy(b[n:], r.Value)
	doc := takeVector(t, all, name, b)
	got, err := ParseRecord(doc, vectorOrigin(at))
	if err != nil || got.Flags != r.Flags || got.Deadline != r.Deadline || !bytes.Equal(got.Key, r.Key) || !bytes.Equal(got.Value, r.Value) || l.Pad(got.Size) != len(doc) {
		t.Errorf("%s: parsed %+v, %v", name, got, err)
	}
	if _, err := ParseRecord(doc, vectorOrigin(at+1<<vectorUnit)); err == nil {
		t.Errorf("%s: is believed in another place", name)
	}
	return len(b)
}

func vectorOfSnapshot(t *testing.T, all map[string][]byte) {
	l, g := Layout{20, vectorUnit}, Geometry{16, vectorUnit}
	entries := []Entry{
		l.NewEntry(vectorID("firn"), g.Location(2, 88), 40, IsWhole) | ReadBit,
		l.NewEntry(vectorID("glacier"), g.Location(2, 64), 24, IsWhole),
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(l.Fingerprint(a), l.Fingerprint(b)) })
	var words []byte
	for _, e := range entries {
		words = binary.LittleEndian.AppendUint64(words, uint64(e))
	}
	s := Snapshot{
		LogID: vectorLog, Number: 55,
		Slots:  []SlotState{{}, {}, {vectorSerial, 2 * Weight(0), Forever}},
		Shards: []ShardPart{{2, Checksum(0, words)}},
		Clocks: []registry.Words{{0x0102030405060708, 12, 0, 64}, {5, 12, 0}, {9, 0, 11, 10, 1_700_000_000_123}},
	}
	b := takeVector(t, all, "snapshot", s.file(words))
	super := Superblock{LogID: vectorLog, Segments: 3}
	got, err := ReadSnapshot(bytes.NewReader(b), int64(len(b)), &super)
	if err != nil || !reflect.DeepEqual(*got, s) {
		t.Errorf("snapshot: read %+v, %v", got, err)
	}
}
