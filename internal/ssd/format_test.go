package ssd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// The bytes of one of each form. What they are is in vectors_test.go.
var golden = map[string][]byte{
	"record":              goldenRecord(rec{key: []byte("key"), value: []byte("value")}),
	"record that expires": goldenRecord(rec{flags: flagExpires, deadline: 1_700_000_000_123, key: []byte("key"), value: []byte("value")}),
	"segment header":      goldenBytes(segmentHeaderLen, func(b []byte) { putSegmentHeader(b, goldenLog, 7, 1<<20) }),
	"trailer":             goldenBytes(trailerLen, func(b []byte) { goldenTrailer.put(b, goldenLog) }),
	"list":                goldenList,
	"superblock":          goldenSuper.encode()[:superLen],
}

const goldenLog = 0x1122334455667788

var (
	goldenList    = appendListed(appendListed(nil, 0x0102030405, 3), 0, 200)
	goldenTrailer = trailer{count: 2, listLen: len(goldenList), dataEnd: segmentHeaderLen + 203*8, listCRC: checksum(0, goldenList), serial: 7, sealedAt: 1_700_000_000_123}
	goldenSuper   = superblock{counter: 4, logID: goldenLog, seed: 99, segBytes: 1 << 20, segments: 60, nextSeg: 8, memory: vfs.MemoryID{Handle: 12, Key: 13},
		lastTime: 1_700_000_000_123, snapshot: 77, unitShift: 3, shardBits: 2, locationBits: 24, clean: true, bootID: "9c1c2a6e-9d3b-4f0e-8a55-0123456789ab"}
)

func goldenRecord(r rec) []byte {
	b := make([]byte, recordHeaderMax)
	b = b[:r.put(b, r.body(), origin{goldenLog, 7<<20 + 64})]
	return append(append(b, r.key...), r.value...)
}

func goldenBytes(n int, put func(b []byte)) []byte {
	b := bytes.Repeat([]byte{0xff}, n)
	put(b)
	return b
}

// Row 36, and 6: what was encoded is what is parsed; with any one bit changed, in
// another log or at another place of it, nothing is.
func TestFault36Parsed(t *testing.T) {
	o := origin{goldenLog, 7<<20 + 64}
	parse := map[string]func(b []byte, o origin) bool{
		"record": func(b []byte, o origin) bool {
			r, err := parseRecord(b, o)
			return err == nil && string(r.key) == "key" && string(r.value) == "value" && r.deadline == 0 && r.size == len(b)
		},
		"record that expires": func(b []byte, o origin) bool {
			r, err := parseRecord(b, o)
			return err == nil && string(r.key) == "key" && string(r.value) == "value" && r.deadline == 1_700_000_000_123
		},
		"segment header": func(b []byte, o origin) bool {
			serial, ok := parseSegmentHeader(b, o.log, 1<<20)
			return ok && serial == 7
		},
		"trailer": func(b []byte, o origin) bool {
			tr, ok := parseTrailer(b, o.log, 1<<20)
			return ok && tr == goldenTrailer
		},
		"list": func(b []byte, _ origin) bool {
			recs, err := parseList(nil, b, goldenTrailer, 3)
			return err == nil && len(recs) == 2 && recs[0] == listed{id: 0x0102030405, offset: 64, bytes: 24} && recs[1] == listed{offset: 88, bytes: 1600}
		},
		"superblock": func(b []byte, _ origin) bool {
			s, err := decodeSuperblock(b)
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
		if name != "list" && name != "superblock" && p(b, origin{o.log + 1, o.lsn}) {
			t.Errorf("%s: parsed in another log", name)
		}
	}
	if parse["record"](golden["record"], origin{o.log, o.lsn + 8}) {
		t.Error("record: parsed at another place")
	}
	if _, ok := parseTrailer(golden["trailer"], goldenLog, goldenTrailer.dataEnd+trailerLen); ok {
		t.Error("trailer: parsed in a segment that it does not fit")
	}
	if _, ok := parseSegmentHeader(golden["segment header"], goldenLog, 1<<21); ok {
		t.Error("segment header: parsed for segments of another size")
	}
}

// Row 20: files of a later version are refused, or, if that is asked for, begun
// anew; they are never read.
func TestFault20LaterVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, version := range []uint32{FormatVersion + 1, math.MaxUint32} {
			for slot := range 2 { // in which of the two places it stands
				w := newWorld(t, 1)
				mem := vfstest.NewMem()
				w.reopen(t, testConfig(mem, w))
				w.put(t, w.key(1))
				w.close(t)
				b, _ := mem.Bytes("superblock")
				other := b[slot*superSlot : (slot+1)*superSlot]
				binary.LittleEndian.PutUint32(other[8:], version)
				binary.LittleEndian.PutUint32(other[12:], superChecksum(other))
				if err := mem.SetBytes("superblock", b); err != nil {
					t.Fatal(err)
				}
				before := mem.Dump()
				if err := w.open(testConfig(mem, w)); !errors.Is(err, ErrFormat) {
					t.Fatalf("version %d: Open: %v, want ErrFormat", version, err)
				}
				for name, now := range mem.Dump() {
					if !bytes.Equal(before[name], now) {
						t.Fatalf("version %d: %s was changed", version, name)
					}
				}
				cfg := testConfig(mem, w)
				cfg.Recovery = RecoverNever
				w.reopen(t, cfg)
				if n := w.tier.Len(); n != 0 {
					t.Fatalf("%d records of another version", n)
				}
				w.put(t, w.key(2))
				w.close(t)
				w.reopen(t, testConfig(mem, w)) // it is ours now
				w.check(t, 10, true)
				w.close(t)
			}
		}
	})
}

// Row 36: no bytes make a parser panic, or take memory that they are not worth.

func FuzzRecord(f *testing.F) {
	for _, name := range []string{"record", "record that expires"} {
		f.Add(golden[name])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseHeader(b); err == nil && (r.size < 0 || r.valueAt < r.keyLen || r.size < r.valueAt) {
			t.Fatalf("%+v", r)
		}
		o := origin{1, 2}
		if len(b) > 5 { // with a checksum that is right
			b = bytes.Clone(b)
			if r, err := parseHeader(b); err == nil && r.size <= len(b) {
				keyAt := r.valueAt - r.keyLen
				binary.LittleEndian.PutUint32(b, o.seal(checksum(checksum(0, b[keyAt:r.size]), b[4:keyAt])))
			}
		}
		r, err := parseRecord(b, o)
		if err != nil {
			return
		}
		if len(r.key) != r.keyLen || r.size > len(b) {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add(goldenList, uint32(2), uint32(goldenTrailer.dataEnd), uint8(3))
	f.Fuzz(func(t *testing.T, list []byte, count, dataEnd uint32, shift uint8) {
		tr := trailer{count: int(count), listLen: len(list), dataEnd: int(dataEnd), listCRC: checksum(0, list)}
		recs, err := parseList(nil, list, tr, leastUnitShift+uint(shift)%14)
		if len(recs)*(idLen+1) > len(list) {
			t.Fatalf("%d records in %d bytes", len(recs), len(list))
		}
		at := uint32(segmentHeaderLen)
		for _, r := range recs {
			if r.offset != at || r.bytes == 0 {
				t.Fatalf("%+v at %d", r, at)
			}
			at += r.bytes
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
		if len(b) == trailerLen { // with a checksum that is right
			b = bytes.Clone(b)
			copy(b[36:], footerMagic)
			binary.LittleEndian.PutUint32(b[44:], origin{logID, binary.LittleEndian.Uint64(b[16:])}.seal(checksum(0, b[:44])))
		}
		if tr, ok := parseTrailer(b, logID, size); ok && (tr.listLen < 0 || tr.dataEnd+tr.listLen+trailerLen > size) {
			t.Fatalf("%+v", tr)
		}
		if serial, ok := parseSegmentHeader(head, logID, size); ok && serial == 0 {
			t.Fatal("serial 0")
		}
	})
}

func FuzzSuperblock(f *testing.F) {
	f.Add(goldenSuper.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= superLen { // with a checksum that is right
			b = bytes.Clone(b)
			copy(b, superMagic)
			binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
		}
		s, err := decodeSuperblock(b)
		if err != nil {
			if !errors.Is(err, errCorrupt) && !errors.Is(err, ErrFormat) && !errors.Is(err, errOlder) {
				t.Fatal(err)
			}
			return
		}
		if again, err := decodeSuperblock(s.encode()); err != nil || again != s {
			t.Fatalf("%+v, encoded and decoded: %+v, %v", s, again, err)
		}
	})
}

// A snapshot of any bytes behind a header that is right is loaded or refused,
// and what is loaded is in order.
func FuzzSnapshot(f *testing.F) {
	w := newWorld(f, 1)
	mem := vfstest.NewMem()
	if err := w.open(testConfig(mem, w)); err != nil {
		f.Fatal(err)
	}
	for i := range 50 {
		w.put(f, w.key(i))
	}
	w.close(f)
	whole, err := mem.Bytes(snapshotName)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[snapshotHeaderLen:])
	f.Fuzz(func(t *testing.T, b []byte) {
		clone := mem.CrashClone(nil, vfstest.Kill)
		file := append(bytes.Clone(whole[:snapshotHeaderLen]), b...)
		h := w.heir()
		h.log = logOf(t)
		cfg := testConfig(clone, h)
		tier, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h.tier = tier
		putSnapshotRight(file, len(tier.log.slots), len(tier.index.shards))
		if err := clone.SetBytes(snapshotName, file); err != nil {
			t.Fatal(err)
		}
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for i := range tier.index.shards {
			tier.index.shards[i].check(t)
		}
		for i := range 50 { // never another key's, nor torn
			if err := h.get(h.key(i)); err != nil {
				t.Fatal(err)
			}
		}
		h.close(t)
	})
}

// putSnapshotRight makes the checksums of a snapshot right, as far as it has what they
// are of.
func putSnapshotRight(file []byte, slots, shards int) {
	dirAt := snapshotHeaderLen + slotWordsLen*slots
	at := dirAt + 8*shards
	if len(file) < at {
		return
	}
	dir := file[dirAt:at]
	for i := range shards {
		d := dir[8*i:]
		n := 8 * int(binary.LittleEndian.Uint32(d))
		if n > len(file)-at {
			break
		}
		binary.LittleEndian.PutUint32(d[4:], checksum(0, file[at:at+n]))
		at += n
	}
	binary.LittleEndian.PutUint32(file[28:], checksum(0, dir))
	binary.LittleEndian.PutUint32(file[36:], checksum(0, file[snapshotHeaderLen:dirAt]))
	binary.LittleEndian.PutUint32(file[60:], checksum(0, file[:60]))
}
