package remote

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

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
	envelopeLen    = 32
	envelopeFormat = 1
	magic0, magic1 = 'f', 'r'
	crcAt          = 28
)

// The flags of an envelope.
const (
	flagS2        = 1 << iota // the value is compressed
	flagNegative              // the key has no value, as a load has found
	flagLease                 // a process loads the key: there is no value
	flagTombstone             // the key was removed: there is no value
	flagsKnown    = 1<<iota - 1
)

// maxMillis is what 6 bytes hold.
const maxMillis = 1<<48 - 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is an envelope without its value.
type header struct {
	flags    byte
	version  shared.Version
	deadline int64
	expiry   int64
	length   uint32
	crc      uint32
}

// valueless reports whether there is no value by the flags.
func (h header) valueless() bool { return h.flags&(flagLease|flagTombstone) != 0 }

// appendEnvelope appends an envelope with its value. length and crc are computed.
func appendEnvelope(dst []byte, h header, value []byte) []byte {
	at := len(dst)
	dst = append(dst, magic0, magic1, envelopeFormat, h.flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.version))
	dst = appendMillis(appendMillis(dst, h.deadline), h.expiry)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(value)))
	dst = append(append(dst, 0, 0, 0, 0), value...)
	sealEnvelope(dst[at:])
	return dst
}

// markerEnvelope is a lease or a tombstone, whose bytes follow from flag and version alone: a
// server can compare all of it.
func markerEnvelope(flag byte, v shared.Version) []byte {
	return appendEnvelope(make([]byte, 0, envelopeLen), header{flags: flag, version: v}, nil)
}

// sealEnvelope computes the CRC of a whole envelope.
func sealEnvelope(b []byte) { binary.LittleEndian.PutUint32(b[crcAt:], crcOf(b)) }

func crcOf(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:crcAt], castagnoli), castagnoli, b[envelopeLen:])
}

// parseHeader reads the first 32 bytes of what may be an envelope. It reports false for what is
// none, or one of another format: then the key has version 0. Otherwise it has the header's
// version, though it may turn out not to be as it was written.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) < envelopeLen || b[0] != magic0 || b[1] != magic1 || b[2] != envelopeFormat {
		return h, false
	}
	return header{
		flags:    b[3],
		version:  shared.Version(binary.LittleEndian.Uint64(b[4:])),
		deadline: millisAt(b[12:]),
		expiry:   millisAt(b[18:]),
		length:   binary.LittleEndian.Uint32(b[24:]),
		crc:      binary.LittleEndian.Uint32(b[crcAt:]),
	}, true
}

// openEnvelope returns the value of a whole envelope, which is part of b. It reports false if it
// is not as it was written.
func openEnvelope(b []byte) (h header, value []byte, ok bool) {
	h, ok = parseHeader(b)
	if !ok || h.flags&^flagsKnown != 0 || uint64(len(b)-envelopeLen) != uint64(h.length) || crcOf(b) != h.crc {
		return h, nil, false
	}
	return h, b[envelopeLen:], true
}

func appendMillis(dst []byte, ms int64) []byte {
	ms = min(max(ms, 0), maxMillis)
	return append(dst, byte(ms), byte(ms>>8), byte(ms>>16), byte(ms>>24), byte(ms>>32), byte(ms>>40))
}

func millisAt(b []byte) int64 {
	return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 | int64(b[3])<<24 | int64(b[4])<<32 | int64(b[5])<<40
}

// newVersion names a write: no two have the same.
func newVersion() shared.Version { return shared.Version(1 + rand.Uint64N(1<<64-1)) }

func newToken() string { return itoa(uint64(newVersion())) }
