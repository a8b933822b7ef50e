package ssd

import "encoding/binary"

// expandStart appends to dst what the value of an s2 block begins with, up to dst's capacity. What
// is no block has no more than its beginning that could be one.
func expandStart(dst, block []byte) []byte {
	_, at := binary.Uvarint(block)
	if at <= 0 {
		return dst
	}
	from := len(dst)
	for e, last := (element{}), 0; at < len(block) && len(dst) < cap(dst); last = e.offset {
		n := e.parse(block[at:], last)
		if n == 0 || e.offset < 0 || e.offset > len(dst)-from {
			break
		}
		at += n
		if e.offset == 0 {
			literal := block[at:min(at+e.length, len(block))]
			at += len(literal)
			dst = append(dst, literal[:min(len(literal), cap(dst)-len(dst))]...)
			e.offset = last
			continue
		}
		for range min(e.length, cap(dst)-len(dst)) { // one by one: it may copy what it has just copied
			dst = append(dst, dst[len(dst)-e.offset])
		}
	}
	return dst
}

// element is one of a block: a literal, or a copy of what lies some bytes before.
type element struct{ length, offset int } // the offset of a literal is 0

// parse reads the head of the element that b begins with, and returns its length; 0 if there is
// none. The offset of a copy may be that of the last one.
func (e *element) parse(b []byte, last int) (n int) {
	x := int(b[0] >> 2)
	var ok bool
	switch b[0] & 3 {
	case 0:
		if e.offset, e.length = 0, x+1; x < 60 {
			return 1
		}
		e.length, ok = littleEndian(b[1:], x-59)
		e.length++
		n = x - 58
	case 1:
		if len(b) < 2 {
			return 0
		}
		e.offset, e.length = int(b[0]&0xe0)<<3|int(b[1]), x&7
		if n, ok = 2, true; e.offset == 0 {
			return e.parseRepeat(b, last)
		}
		e.length += 4
	case 2:
		e.length, n = x+1, 3
		e.offset, ok = littleEndian(b[1:], 2)
	default:
		e.length, n = x+1, 5
		e.offset, ok = littleEndian(b[1:], 4)
	}
	if !ok {
		return 0
	}
	if b[0]&3 != 0 && e.offset == 0 {
		e.offset = -1 // no block has it
	}
	return n
}

// parseRepeat is parse of a copy with the last one's offset.
func (e *element) parseRepeat(b []byte, last int) (n int) {
	if e.offset = last; last == 0 {
		e.offset = -1
	}
	extra := max(e.length-4, 0)
	if extra > 0 {
		more, ok := littleEndian(b[2:], extra)
		if !ok {
			return 0
		}
		e.length = more + [...]int{4, 1 << 8, 1 << 16}[extra-1]
	}
	e.length += 4
	return 2 + extra
}

// littleEndian is a number of n bytes.
func littleEndian(b []byte, n int) (v int, ok bool) {
	if len(b) < n {
		return 0, false
	}
	for i := range n {
		v |= int(b[i]) << (8 * i)
	}
	return v, true
}
