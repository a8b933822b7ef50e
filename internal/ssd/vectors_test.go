package ssd

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs"
)

// The vectors of docs/FORMAT.md are what is encoded here, and give back what it
// was encoded from.

const (
	vectorLog    = 0x1122334455667788
	vectorSeed   = 0x0123456789abcdef
	vectorSize   = 64 << 10
	vectorSerial = 7
	vectorUnit   = 3
)

func vectorOrigin(off int) origin { return origin{vectorLog, vectorSerial*vectorSize + uint64(off)} }

var hexBlock = regexp.MustCompile("(?s)```hex ([a-z-]+)\n(.*?)```")

// vectors are the hex blocks of the document, by name. Whatever a test does not
// take is left over.
func vectors(t *testing.T) map[string][]byte {
	t.Helper()
	doc, err := os.ReadFile("../../docs/FORMAT.md")
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
		t.Errorf("%s: not in docs/FORMAT.md", name)
	}
	delete(all, name)
	if !bytes.Equal(encoded, want) {
		t.Errorf("%s: encoded %x, the document has %x", name, encoded, want)
	}
	return want
}

func TestVectors(t *testing.T) {
	all := vectors(t)
	if got := checksum(0, []byte("123456789")); got != 0xe3069283 {
		t.Errorf("checksum %x", got)
	}
	takeVector(t, all, "seal", binary.LittleEndian.AppendUint32(nil, vectorOrigin(64).seal(0)))
	takeVector(t, all, "id", appendID(nil, vectorID("glacier")))
	vectorOfSuperblock(t, all)
	vectorsOfSegment(t, all)
	vectorOfSnapshot(t, all)
	for name := range all {
		t.Errorf("%s: nothing tests this vector", name)
	}
}

func vectorID(key string) id {
	h := record.NewHasher(vectorSeed)
	return idOf(h.Hash([]byte(key)))
}

func vectorOfSuperblock(t *testing.T, all map[string][]byte) {
	super := superblock{
		counter: 3, logID: vectorLog, seed: vectorSeed, segBytes: vectorSize, segments: 60,
		nextSeg: 9, memory: vfs.MemoryID{Handle: 163840, Key: 0xfedcba9876543210}, lastTime: 1700000000000, skew: 5000, snapshot: 55, unitShift: vectorUnit, shardBits: 2, locationBits: 20,
		clean: true, bootID: "01234567-89ab-cdef-0123-456789abcdef",
	}
	place := super.encode()
	if len(place) != superSlot || !isZero(place[superBudgetAt:superBudgetAt+budgetLen]) {
		t.Errorf("superblock: %d bytes, or something of a budget behind %d", len(place), superLen)
	}
	b := takeVector(t, all, "superblock", place[:superLen])
	if got, err := decodeSuperblock(b); err != nil || got != super {
		t.Errorf("superblock: decoded %+v, %v", got, err)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func vectorsOfSegment(t *testing.T, all map[string][]byte) {
	head := make([]byte, segmentHeaderLen)
	putSegmentHeader(head, vectorLog, vectorSerial, vectorSize)
	b := takeVector(t, all, "segment", head)
	if serial, ok := parseSegmentHeader(b, vectorLog, vectorSize); !ok || serial != vectorSerial {
		t.Errorf("segment: parsed %d, %v", serial, ok)
	}

	blue := bytes.Repeat([]byte("ice "), 128)
	packed := compressedVector(t, all, blue)
	at, list := segmentHeaderLen, []byte(nil)
	var want []listed
	for _, v := range []struct {
		name string
		id   id
		rec  rec
	}{
		{"record", vectorID("glacier"), rec{key: []byte("glacier"), value: []byte("ice")}},
		{"record-deadline", vectorID("firn"), rec{flags: flagExpires, deadline: 1700000060000, key: []byte("firn"), value: []byte("last year's snow")}},
		{"record-compressed", vectorID("blue"), rec{flags: flagCompressed, key: []byte("blue"), value: packed}},
	} {
		size := vectorOfRecord(t, all, v.name, &v.rec, at)
		list = appendListed(list, v.id, uint32(size>>vectorUnit))
		want = append(want, listed{id: v.id, offset: uint32(at), bytes: uint32(size)})
		at += size
	}

	list = takeVector(t, all, "list", list)
	tr := trailer{count: 3, listLen: len(list), dataEnd: at, listCRC: checksum(0, list), serial: vectorSerial, sealedAt: 1700000000500}
	b = make([]byte, trailerLen)
	tr.put(b, vectorLog)
	b = takeVector(t, all, "trailer", b)
	if got, ok := parseTrailer(b, vectorLog, vectorSize); !ok || got != tr {
		t.Errorf("trailer: parsed %+v, %v", got, ok)
	}
	if got, err := parseList(nil, list, tr, vectorUnit); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("list: parsed %+v, %v", got, err)
	}
}

// compressedVector is the S2 block in the document: a later compressor may make
// another of the same value.
func compressedVector(t *testing.T, all map[string][]byte, value []byte) []byte {
	t.Helper()
	r, err := parseRecord(all["record-compressed"], vectorOrigin(128))
	if err != nil {
		t.Errorf("record-compressed: %v", err)
		return s2.Encode(nil, value)
	}
	if got, err := s2.Decode(nil, r.value); err != nil || !bytes.Equal(got, value) {
		t.Errorf("record-compressed: decoded %q, %v", got, err)
	}
	return bytes.Clone(r.value)
}

// vectorOfRecord tests one record, and returns its length with the padding.
func vectorOfRecord(t *testing.T, all map[string][]byte, name string, r *rec, at int) int {
	t.Helper()
	l := log{unitShift: vectorUnit}
	b := make([]byte, l.pad(r.headerLen()+len(r.key)+len(r.value)))
	n := r.put(b, r.body(), vectorOrigin(at))
	n += copy(b[n:], r.key)
	copy(b[n:], r.value)
	doc := takeVector(t, all, name, b)
	got, err := parseRecord(doc, vectorOrigin(at))
	if err != nil || got.flags != r.flags || got.deadline != r.deadline || !bytes.Equal(got.key, r.key) || !bytes.Equal(got.value, r.value) || l.pad(got.size) != len(doc) {
		t.Errorf("%s: parsed %+v, %v", name, got, err)
	}
	if _, err := parseRecord(doc, vectorOrigin(at+1<<vectorUnit)); err == nil {
		t.Errorf("%s: is believed in another place", name)
	}
	return len(b)
}

// snapshotTier is as much of a tier as saving and loading an index takes.
func snapshotTier(t *testing.T) *Tier {
	t.Helper()
	tier := &Tier{cfg: Config{FS: vfstest.NewMem(), Bytes: MinBytes, Memory: 1 << 20}, charge: func(int64) error { return nil }}
	tier.super.logID = vectorLog
	m, _, err := newMemory(memoryShape{slots: 3, shards: 1, stride: 8 << 10, segShift: 16, unitShift: vectorUnit, locBits: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.release)
	tier.log = newLog(m, nil, nil, 0)
	tier.index = newIndex(0, m, false)
	return tier
}

func vectorOfSnapshot(t *testing.T, all map[string][]byte) {
	tier := snapshotTier(t)
	x, s := tier.index, &tier.index.shards[0]
	w := &tier.log.words[2]
	w.serial.Store(vectorSerial)
	w.written.Store(weightOf(24) + weightOf(40))
	w.until.Store(forever)
	s.put(s.newEntry(vectorID("glacier"), tier.log.location(2, 64), 24))
	s.put(s.newEntry(vectorID("firn"), tier.log.location(2, 88), 40) | readBit)
	if x.len() != 2 {
		t.Fatalf("%d entries", x.len())
	}
	number, err := tier.saveSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	b := contentsOf(t, tier.cfg.FS, snapshotName)
	if got := binary.LittleEndian.Uint64(b[16:]); got != number {
		t.Errorf("snapshot: number %d in the file, want %d", got, number)
	}
	binary.LittleEndian.PutUint64(b[16:], 55) // the number is random
	binary.LittleEndian.PutUint32(b[60:], checksum(0, b[:60]))
	doc := takeVector(t, all, "snapshot", b)

	again := snapshotTier(t)
	f, err := again.cfg.FS.Open(snapshotName, vfs.How{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(doc, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.loadSnapshot(55); err != nil {
		t.Errorf("snapshot: %v", err)
	}
	entries := func(x *index) (got []entry) {
		x.each(func(_ id, e entry) entry { got = append(got, e); return e })
		return got
	}
	if got := again.log.slotNumbers(); !slices.Equal(got, tier.log.slotNumbers()) {
		t.Errorf("snapshot: loaded %d of the slots, want %d", got, tier.log.slotNumbers())
	}
	if want, got := entries(x), entries(again.index); !reflect.DeepEqual(got, want) {
		t.Errorf("snapshot: loaded %x, want %x", got, want)
	}
}

func contentsOf(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name, vfs.How{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}
