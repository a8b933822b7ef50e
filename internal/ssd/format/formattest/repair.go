// Package formattest makes checksums right again in bytes that a test has edited, so
// that checks of the rest have something to find.
package formattest

import (
	"encoding/binary"

	"github.com/firncache/firn/internal/ssd/format"
)

// Superblock repairs both places of a superblock's file, as far as they are there.
func Superblock(b []byte) {
	for ; len(b) >= format.SuperblockLen; b = b[min(format.SuperblockBytes, len(b)):] {
		format.SealSuperblock(b)
	}
}

// Snapshot repairs a snapshot of so many slots and shards, as far as it has what the
// checksums are of. Its second front becomes the first.
func Snapshot(b []byte, slots, shards int) {
	dirAt := format.SnapshotHeaderLen + format.SlotWordsLen*slots
	front := dirAt + 8*shards
	if len(b) < 2*front {
		return
	}
	at := front + format.ClockLen*int(binary.LittleEndian.Uint32(b[40:]))
	if len(b) < at {
		return
	}
	binary.LittleEndian.PutUint32(b[44:], format.Checksum(0, b[front:at]))
	for d := b[dirAt:front]; len(d) > 0; d = d[8:] {
		n := 8 * int(binary.LittleEndian.Uint32(d))
		if n > len(b)-at {
			break
		}
		binary.LittleEndian.PutUint32(d[4:], format.Checksum(0, b[at:at+n]))
		at += n
	}
	binary.LittleEndian.PutUint32(b[60:], format.Checksum(format.Checksum(0, b[:60]), b[format.SnapshotHeaderLen:front]))
	copy(b[len(b)-front:], b[:front])
}

// Log repairs the headers, trailers and lists of a log's segments.
func Log(b []byte, segmentBytes int) {
	for ; len(b) >= segmentBytes; b = b[segmentBytes:] {
		binary.LittleEndian.PutUint32(b[60:], format.Checksum(0, b[:60]))
		end := segmentBytes - format.TrailerLen
		tr := b[end:segmentBytes]
		if n := int(binary.LittleEndian.Uint32(tr[4:])); n >= 0 && n < end {
			binary.LittleEndian.PutUint32(tr[12:], format.Checksum(0, b[end-n:end]))
		}
		o := format.Origin{Log: binary.LittleEndian.Uint64(b[8:]), LSN: binary.LittleEndian.Uint64(tr[16:])}
		binary.LittleEndian.PutUint32(tr[44:], o.Seal(format.Checksum(0, tr[:44])))
	}
}
