package workload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Sizes of the records of the binary formats.
const (
	trcSize    = 16
	oracleSize = 24
)

// decodeTRC decodes a record of the trc format, little-endian:
//
//	0        8     12     16
//	+--------+------+------+
//	| key    | size | time |
//	+--------+------+------+
func decodeTRC(b []byte) Request {
	return Request{
		Key:  binary.LittleEndian.Uint64(b),
		Size: binary.LittleEndian.Uint32(b[8:]),
		Time: binary.LittleEndian.Uint32(b[12:]),
	}
}

// decodeOracle decodes a record of libCacheSim's oracleGeneral, little-endian:
//
//	0      4        12     16            24
//	+------+--------+------+-------------+
//	| time | key    | size | next access |
//	+------+--------+------+-------------+
func decodeOracle(b []byte) Request {
	return Request{
		Time: binary.LittleEndian.Uint32(b),
		Key:  binary.LittleEndian.Uint64(b[4:]),
		Size: binary.LittleEndian.Uint32(b[12:]),
	}
}

// recordDecoder reads records of one size.
type recordDecoder struct {
	r      io.Reader
	size   int
	decode func(record []byte) Request
	offset int64
	buf    []byte
	err    error // the end of the records, once it is known
}

func newRecordDecoder(r io.Reader, size int, decode func([]byte) Request) *recordDecoder {
	return &recordDecoder{r: r, size: size, decode: decode, buf: make([]byte, 4096*size)}
}

func (d *recordDecoder) Read(dst []Request) (int, error) {
	if d.err != nil || len(dst) == 0 {
		return 0, d.err
	}
	buf := d.buf[:min(len(d.buf), len(dst)*d.size)]
	got, err := io.ReadFull(d.r, buf)
	n := got / d.size
	for i := range n {
		dst[i] = d.decode(buf[i*d.size : (i+1)*d.size])
	}
	d.offset += int64(n * d.size)
	if err != nil {
		d.err = d.ended(err, got%d.size)
	}
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// ended explains the end of the stream behind the last whole record. rest is
// the number of bytes that follow it.
func (d *recordDecoder) ended(err error, rest int) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err // the stream itself is broken, and says where
	}
	if rest == 0 {
		return io.EOF
	}
	return &placeError{offset: d.offset, err: fmt.Errorf(
		"record cut short: %d of %d bytes", rest, d.size)}
}
