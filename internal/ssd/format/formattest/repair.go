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

// SnapshotHeader repairs the checksum of a snapshot's header.
func SnapshotHeader(b []byte) {
	if len(b) >= format.SnapshotHeaderLen {
		binary.LittleEndian.PutUint32(b[60:], format.Checksum(0, b[:60]))
	}
}

// Snapshot repairs a snapshot of so many slots and shards, as far as it has what the
// checksums are of.
func Snapshot(b []byte, slots, shards int) {
	dirAt := format.SnapshotHeaderLen + format.SlotWordsLen*slots
	numbersAt := dirAt + 8*shards
	if len(b) < numbersAt {
		return
	}
	at := numbersAt + format.NumberLen*int(binary.LittleEndian.Uint32(b[40:]))
	if len(b) < at {
		return
	}
	dir, numbers := b[dirAt:numbersAt], b[numbersAt:at]
	for i := range shards {
		d := dir[8*i:]
		n := 8 * int(binary.LittleEndian.Uint32(d))
		if n > len(b)-at {
			break
		}
		binary.LittleEndian.PutUint32(d[4:], format.Checksum(0, b[at:at+n]))
		at += n
	}
	binary.LittleEndian.PutUint32(b[28:], format.Checksum(0, dir))
	binary.LittleEndian.PutUint32(b[36:], format.Checksum(0, b[format.SnapshotHeaderLen:dirAt]))
	binary.LittleEndian.PutUint32(b[44:], format.Checksum(0, numbers))
	SnapshotHeader(b)
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
