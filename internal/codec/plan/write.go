package plan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/firncache/firn/internal/offheap"
)

// Append appends the bytes of a value to dst. With an error, some may be there.
func (p *Plan) Append(dst []byte, mem offheap.Fields) ([]byte, error) { return p.append(dst, mem, 0) }

// append appends the bytes of a value, which lies within depth others.
func (p *Plan) append(dst []byte, mem offheap.Fields, depth int) (_ []byte, err error) {
	for i := range p.steps {
		s := &p.steps[i]
		switch s.op {
		case plainOp:
			dst = appendNumbers(dst, mem.Bytes(s.offset, s.size), s.width)
		case boolsOp:
			dst = append(dst, mem.Bytes(s.offset, s.size)...)
		case stringOp:
			dst = appendString(dst, *mem.String(s.offset))
		default:
			if dst, err = s.append(dst, mem.At(s.offset), depth); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// append appends the bytes of a part that is not only copied.
func (s *step) append(dst []byte, mem offheap.Fields, depth int) (_ []byte, err error) {
	if depth >= maxDepth {
		return dst, fmt.Errorf("%s lies within %d pointers, slices and maps, or is a cycle: want fewer", s.path, depth)
	}
	switch s.op {
	case timeOp:
		if dst, err = AppendTime(dst, *offheap.As[time.Time](mem)); err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
		return dst, err
	case pointerOp:
		to, ok := mem.Pointer(0)
		if !ok {
			return append(dst, 0), nil
		}
		return s.elem.append(append(dst, 1), to, depth+1)
	case sliceOp:
		return s.appendSlice(dst, mem, depth)
	case mapOp:
		return s.appendMap(dst, mem.Value(s.t, 0), depth)
	case methodsOp:
		return s.appendByMethods(dst, mem)
	}
	return s.elem.appendEach(dst, mem, s.count, depth)
}

func (p *Plan) appendEach(dst []byte, mem offheap.Fields, n, depth int) (_ []byte, err error) {
	if p.least == 0 { // there may be any number of them
		return dst, nil
	}
	for i := range n {
		if dst, err = p.append(dst, mem.At(uintptr(i)*p.size), depth); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (s *step) appendSlice(dst []byte, mem offheap.Fields, depth int) ([]byte, error) {
	elements, n, ok := mem.Slice(0)
	if !ok {
		return append(dst, 0), nil
	}
	dst = appendCount(dst, n)
	switch p := s.elem; {
	case p.isPlain():
		return appendNumbers(dst, elements.Bytes(0, uintptr(n)*p.size), p.steps[0].width), nil
	case p.isPadded():
		return append(dst, make([]byte, n)...), nil
	case p.least == 0:
		return dst, nil
	default:
		return p.appendEach(dst, elements, n, depth+1)
	}
}

// entry is where an entry of a map lies among the bytes that were written.
type entry struct{ from, value, end int }

func (s *step) appendMap(dst []byte, m reflect.Value, depth int) (_ []byte, err error) {
	if m.IsNil() {
		return append(dst, 0), nil
	}
	k, v := reflect.New(s.t.Key()), reflect.New(s.t.Elem())
	entries := make([]entry, 0, m.Len())
	dst = appendCount(dst, m.Len())
	from := len(dst)
	for it := m.MapRange(); it.Next(); {
		e := entry{from: len(dst)}
		k.Elem().SetIterKey(it)
		v.Elem().SetIterValue(it)
		if dst, err = s.key.append(dst, offheap.FieldsAt(k), depth+1); err != nil {
			return dst, err
		}
		e.value = len(dst)
		if dst, err = s.elem.append(dst, offheap.FieldsAt(v), depth+1); err != nil {
			return dst, err
		}
		e.end = len(dst)
		entries = append(entries, e)
	}
	sortEntries(dst, from, entries)
	return dst, nil
}

// sortEntries sorts the entries of a map, which lie in b from an index on, by the bytes of
// their keys; of keys that are equal to no other, as NaN is, by those of their values.
func sortEntries(b []byte, from int, entries []entry) {
	order := func(x, y entry) int {
		return cmp.Or(bytes.Compare(b[x.from:x.value], b[y.from:y.value]), bytes.Compare(b[x.value:x.end], b[y.value:y.end]))
	}
	if slices.IsSortedFunc(entries, order) {
		return
	}
	slices.SortFunc(entries, order)
	sorted := make([]byte, 0, len(b)-from)
	for _, e := range entries {
		sorted = append(sorted, b[e.from:e.end]...)
	}
	copy(b[from:], sorted)
}

func (s *step) appendByMethods(dst []byte, mem offheap.Fields) ([]byte, error) {
	at := len(dst)
	out, err := s.with.Append(append(dst, 0), mem.Value(s.t, 0).Addr().Interface())
	n := len(out) - at - 1
	switch {
	case err != nil:
		return dst, fmt.Errorf("%s: %w", s.path, err)
	case n < 0:
		return dst, fmt.Errorf("%s: its method took away bytes that it was given", s.path)
	}
	var length [binary.MaxVarintLen64]byte
	width := binary.PutUvarint(length[:], uint64(n))
	out[at] = length[0]
	return slices.Insert(out, at+1, length[1:width]...), nil
}

// appendCount appends the length of what is not nil.
func appendCount(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)+1) }

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendNumbers appends adjacent numbers, little-endian.
func appendNumbers(dst, mem []byte, width int) []byte {
	dst = append(dst, mem...)
	reverseEach(dst[len(dst)-len(mem):], width)
	return dst
}

// reverseEach reverses every width bytes.
func reverseEach(b []byte, width int) {
	if width > 1 {
		for number := range slices.Chunk(b, width) {
			slices.Reverse(number)
		}
	}
}
