package ssd

import (
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn/bufpool"
	"github.com/firncache/firn/internal/ssd/format"
)

// minCompressed is the shortest value in bytes that compression is tried on.
const minCompressed = 128

// compress replaces the value by an s2 block if that is shorter by an eighth or
// more. The block lies in the buffer that it returns, nil for none.
func (t *Tier) compress(r *format.Record) *bufpool.Buffer {
	if len(r.Value) < minCompressed {
		return nil
	}
	n := s2.MaxEncodedLen(len(r.Value))
	b := bufpool.Get(n)
	room, err := b.Extend(n)
	if err != nil {
		panic(err) // the value is in memory
	}
	packed := s2.Encode(room, r.Value)
	if len(packed) <= len(r.Value)-len(r.Value)/8 {
		t.count.compressedFrom.Add(uint64(len(r.Value)))
		t.count.compressedTo.Add(uint64(len(packed)))
		r.Value, r.Flags = packed, r.Flags|format.FlagCompressed
	}
	return b
}

func release(b *bufpool.Buffer) {
	if b != nil {
		b.Release()
	}
}

// expand appends the value that an s2 block holds. The block is as it was written:
// its checksum was right. So it may be longer than RAM, which was larger then.
func expand(dst, block []byte) ([]byte, error) {
	n, err := s2.DecodedLen(block)
	if err != nil {
		return dst, format.ErrCorrupt
	}
	dst = slices.Grow(dst, n)
	v, err := s2.Decode(dst[len(dst):len(dst)+n], block)
	if err != nil {
		return dst, err
	}
	return dst[:len(dst)+len(v)], nil
}
