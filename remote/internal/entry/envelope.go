// Package entry is what lies on the server: the bytes before a value, and the names of keys.
package entry

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strconv"

	"github.com/firncache/firn/internal/shared"
)

// An entry on the server is an envelope: 32 bytes, numbers in little-endian order, before the
// value.
//
//		 0       2        3       4         12         18         24       28      32
//		+-------+--------+-------+---------+----------+----------+--------+-------+------
//		| magic | format | flags | version | deadline |  expiry  | length |  CRC  | value
//		+-------+--------+-------+---------+----------+----------+--------+-------+------
//
//	  - magic: "fr". Anything else is foreign.
//	  - deadline: when the entry ends, in milliseconds of Unix time by the writer's clock; 0: never.
//	  - expiry: when the server forgets it, likewise; it is stale in between. 0: never.
//	  - length: of the value as it lies there.
//	  - CRC: CRC-32C of the 28 bytes before it and the value.
const (
	Len            = 32
	Format         = 1
	magic0, magic1 = 'f', 'r'
	crcAt          = 28
)

// The flags of an envelope.
const (
	FlagS2        = 1 << iota // the value is compressed
	FlagNegative              // the key has no value, as a load has found
	FlagLease                 // a process loads the key: there is no value
	FlagTombstone             // the key was removed: there is no value
	flagsKnown    = 1<<iota - 1
)

// MaxMillis is what 6 bytes hold.
const MaxMillis = 1<<48 - 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is an envelope without its value.
type Header struct {
	Flags    byte
	Version  shared.Version
	Deadline int64
	Expiry   int64
	Length   uint32
	CRC      uint32
}

// Valueless reports whether there is no value by the flags.
func (h Header) Valueless() bool { return h.Flags&(FlagLease|FlagTombstone) != 0 }

// Append appends an envelope with its value. length and crc are computed.
func Append(dst []byte, h Header, value []byte) []byte {
	at := len(dst)
	dst = append(dst, magic0, magic1, Format, h.Flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.Version))
	dst = appendMillis(appendMillis(dst, h.Deadline), h.Expiry)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(value)))
	dst = append(append(dst, 0, 0, 0, 0), value...)
	Seal(dst[at:])
	return dst
}

// Marker is a lease or a tombstone, whose bytes follow from flag and version alone: a
// server can compare all of it.
func Marker(flag byte, v shared.Version) []byte {
	return Append(make([]byte, 0, Len), Header{Flags: flag, Version: v}, nil)
}

// Seal computes the CRC of a whole envelope.
func Seal(b []byte) { binary.LittleEndian.PutUint32(b[crcAt:], crcOf(b)) }

func crcOf(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:crcAt], castagnoli), castagnoli, b[Len:])
}

// Parse reads the first 32 bytes of what may be an envelope. It reports false for what is
// none, or one of another format: then the key has version 0. Otherwise it has the Header's
// version, though it may turn out not to be as it was written.
func Parse(b []byte) (h Header, ok bool) {
	if len(b) < Len || b[0] != magic0 || b[1] != magic1 || b[2] != Format {
		return h, false
	}
	return Header{
		Flags:    b[3],
		Version:  shared.Version(binary.LittleEndian.Uint64(b[4:])),
		Deadline: millisAt(b[12:]),
		Expiry:   millisAt(b[18:]),
		Length:   binary.LittleEndian.Uint32(b[24:]),
		CRC:      binary.LittleEndian.Uint32(b[crcAt:]),
	}, true
}

// Open returns the value of a whole envelope, which is part of b. It reports false if it
// is not as it was written.
func Open(b []byte) (h Header, value []byte, ok bool) {
	h, ok = Parse(b)
	if !ok || h.Flags&^flagsKnown != 0 || uint64(len(b)-Len) != uint64(h.Length) || crcOf(b) != h.CRC {
		return h, nil, false
	}
	return h, b[Len:], true
}

func appendMillis(dst []byte, ms int64) []byte {
	ms = min(max(ms, 0), MaxMillis)
	return append(dst, byte(ms), byte(ms>>8), byte(ms>>16), byte(ms>>24), byte(ms>>32), byte(ms>>40))
}

func millisAt(b []byte) int64 {
	return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 | int64(b[3])<<24 | int64(b[4])<<32 | int64(b[5])<<40
}

// NewVersion names a write: no two have the same.
func NewVersion() shared.Version { return shared.Version(1 + rand.Uint64N(1<<64-1)) }

// NewToken is a random token, of TokenLen digits at most.
func NewToken() string { return strconv.FormatUint(uint64(NewVersion()), 10) }

// TokenLen is the longest token, in digits.
const TokenLen = 20
