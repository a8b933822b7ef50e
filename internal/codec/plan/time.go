package plan

import (
	"encoding/binary"
	"time"
)

const (
	timeLen         = 15 // of a time's bytes, and one more
	timeWithSeconds = 2  // if the first is this
)

// AppendTime writes the bytes of AppendBinary, except for the seconds of an offset west of
// UTC, as zones had before there was standard time: these are written negative
// there, and read as if they were not.
func AppendTime(dst []byte, t time.Time) ([]byte, error) {
	from := len(dst)
	dst, err := t.AppendBinary(dst)
	if b := dst[from:]; err == nil && len(b) == 16 && int8(b[15]) < 0 {
		binary.BigEndian.PutUint16(b[13:], binary.BigEndian.Uint16(b[13:])-1) // minutes
		b[15] += 60
	}
	return dst, err
}

// time reads a time: its first byte says how long it is.
func (r *reader) time(to *time.Time) error {
	n := timeLen
	if r.at < len(r.all) && r.all[r.at] == timeWithSeconds {
		n++
	}
	b, ok := r.take(n)
	if !ok {
		return errDamaged
	}
	return to.UnmarshalBinary(b)
}
