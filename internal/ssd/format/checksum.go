package format

import (
	"errors"
	"hash/crc32"
	"math/bits"
)

// Version is the version of the files that this package writes. It reads
// no other.
const Version = 6

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum goes on with a CRC-32C.
func Checksum(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

// ErrCorrupt says that bytes do not have the form, or the checksum, that they
// should.
var ErrCorrupt = errors.New("ssd: checksum or form is wrong")

// Origin is covered by every checksum in the log beside the bytes themselves:
// which log they belong to and where in it they stand. What another log, or an
// earlier turn of the same one, left on the disk does not pass for data.
type Origin struct {
	Log uint64 // the log's random number
	LSN uint64
}

// Seal makes the origin part of a checksum: the two halves of the 128-bit product
// of both its numbers, each xored with a constant, and the halves of what that
// gives, xored with each other and with the checksum.
func (o Origin) Seal(crc uint32) uint32 {
	hi, lo := bits.Mul64(o.Log^0x9e3779b97f4a7c15, o.LSN^0xd1b54a32d192ed03)
	m := hi ^ lo
	return crc ^ uint32(m>>32) ^ uint32(m)
}
