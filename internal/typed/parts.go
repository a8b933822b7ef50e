package typed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/offheap"
)

// parts turns keys into bytes that are made of bools, numbers and strings, alone
// or in structs and arrays: one part after the other, in the order of the fields,
// and nothing between them.
//
//	integer          its bytes, little-endian
//	bool             one byte, 0 or 1
//	float, complex   its bits, little-endian: −0 as 0; NaN, which equals nothing, is an error
//	string           its length as a uvarint, then its bytes
//
// Blank fields and padding have no bytes, for == does not look at them. Two keys are
// equal if and only if their bytes are: the kinds of the parts are the type's, a
// number has one length, and a string says its own before it begins.
type parts struct{ steps []step }

// step is one part, or adjacent integers.
type step struct {
	op     op
	width  int // of each number in memory; 1 for integers whose bytes are there in the order of the key's
	offset uintptr
	size   uintptr // in memory
	field  string  // as "Owner.Scores[3]", for errors; empty for the key itself
}

type op uint8

const (
	integersOp op = iota
	boolOp
	floatOp
	stringOp
)

// maxParts bounds the bytes of a type's parts: an array that is longer would make
// a step for each element, and keys of no use.
const maxParts = 64 << 10

const wantParts = "want numbers, bools, strings, structs and arrays of these, a type with AppendBinary, or TypedOptions.KeyCodec"

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// newParts makes the steps of a type, or says which field has none.
func newParts(t reflect.Type) (p parts, err error) {
	err = p.add(t, 0, "")
	return p, err
}

// add appends the steps of what lies at offset.
func (p *parts) add(t reflect.Type, offset uintptr, field string) error {
	s := step{width: 1, offset: offset, size: t.Size(), field: field}
	switch k := t.Kind(); k {
	case reflect.Struct:
		return p.addFields(t, offset, field)
	case reflect.Array:
		return p.addElements(t, offset, field)
	case reflect.Bool:
		s.op = boolOp
	case reflect.String:
		s.op = stringOp
	case reflect.Complex64, reflect.Complex128:
		s.op, s.size = floatOp, s.size/2
		p.steps = append(p.steps, s)
		s.offset += s.size
	case reflect.Float32, reflect.Float64:
		s.op = floatOp
	default:
		if !codec.IsInteger(k) {
			return refuse(t, field)
		}
		p.addInteger(s)
		return nil
	}
	p.steps = append(p.steps, s)
	return nil
}

// refuse is the error of a part that has no bytes.
func refuse(t reflect.Type, field string) error {
	if field == "" {
		return errors.New(wantParts)
	}
	return fmt.Errorf("%s is of kind %s: %s", named(field), t.Kind(), wantParts)
}

// named is what an error calls a part.
func named(field string) string {
	if field == "" {
		return "the key"
	}
	return "field " + field
}

// addInteger appends the step of an integer, or lengthens the last one.
func (p *parts) addInteger(s step) {
	if !littleEndian {
		s.width = int(s.size)
	}
	if n := len(p.steps); n > 0 {
		last := &p.steps[n-1]
		if last.op == integersOp && last.width == s.width && last.offset+last.size == s.offset {
			last.size += s.size
			return
		}
	}
	p.steps = append(p.steps, s)
}

func (p *parts) addFields(t reflect.Type, offset uintptr, field string) error {
	if field != "" {
		field += "."
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" {
			if err := p.add(f.Type, offset+f.Offset, field+f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parts) addElements(t reflect.Type, offset uintptr, field string) error {
	elem := t.Elem()
	if t.Size() > maxParts {
		return fmt.Errorf("%s is an array of %d bytes: want at most %d", named(field), t.Size(), maxParts)
	}
	if elem.Size() == 0 {
		return p.add(elem, offset, field) // no steps, or an error
	}
	for i := range t.Len() {
		if err := p.add(elem, offset+uintptr(i)*elem.Size(), fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	return nil
}

// layout describes a type by the names, types and order of its parts: the bytes of
// one layout mean nothing in another.
func layout(t reflect.Type) string {
	var b strings.Builder
	describe(&b, t)
	return b.String()
}

func describe(b *strings.Builder, t reflect.Type) {
	b.WriteString(codec.TypeName(t))
	switch t.Kind() {
	case reflect.Struct:
		b.WriteString(" {")
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" {
				b.WriteString(f.Name + " ")
				describe(b, f.Type)
				b.WriteString("; ")
			}
		}
		b.WriteString("}")
	case reflect.Array:
		b.WriteString(" of ")
		describe(b, t.Elem())
	default:
		fmt.Fprintf(b, " = %s", t.Kind())
		if codec.IsInteger(t.Kind()) {
			fmt.Fprintf(b, "/%d", t.Size()) // int is not as long everywhere
		}
	}
}

// append appends the bytes of a key.
func (p *parts) append(dst []byte, key offheap.Fields) ([]byte, error) {
	for i := range p.steps {
		switch s := &p.steps[i]; s.op {
		case integersOp:
			dst = s.appendIntegers(dst, key.Bytes(s.offset, s.size))
		case boolOp:
			dst = append(dst, key.Bytes(s.offset, 1)...)
		case floatOp:
			var ok bool
			if dst, ok = appendFloat(dst, key.Bytes(s.offset, s.size)); !ok {
				return dst, fmt.Errorf("%s is NaN, which equals no key: want a number", named(s.field))
			}
		case stringOp:
			str := *key.String(s.offset)
			dst = append(binary.AppendUvarint(dst, uint64(len(str))), str...)
		}
	}
	return dst, nil
}

// appendIntegers appends adjacent integers, little-endian.
func (s *step) appendIntegers(dst, mem []byte) []byte {
	dst = append(dst, mem...)
	reverseEach(dst[len(dst)-len(mem):], s.width)
	return dst
}

// reverseEach reverses every width bytes.
func reverseEach(b []byte, width int) {
	if width > 1 {
		for part := range slices.Chunk(b, width) {
			slices.Reverse(part)
		}
	}
}

// appendFloat appends the bits of a float, or reports that it is NaN.
func appendFloat(dst, mem []byte) ([]byte, bool) {
	if len(mem) == 4 {
		f := math.Float32frombits(binary.NativeEndian.Uint32(mem))
		if f == 0 {
			f = 0
		}
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(f)), f == f
	}
	f := math.Float64frombits(binary.NativeEndian.Uint64(mem))
	if f == 0 {
		f = 0 // of both signs
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), f == f
}

// errNoKey is of bytes that append did not write.
var errNoKey = errors.New("the bytes are of no key")

// parse is the reverse of append. It takes no other bytes, so that a key has one
// form alone.
func (p *parts) parse(key offheap.Fields, src []byte) error {
	for i := range p.steps {
		n, ok := p.steps[i].parse(key, src)
		if !ok {
			return fmt.Errorf("%w: %s cannot be read", errNoKey, named(p.steps[i].field))
		}
		src = src[n:]
	}
	if len(src) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", errNoKey, len(src))
	}
	return nil
}

// parse reads one part from the front of src, and reports its length there.
func (s *step) parse(key offheap.Fields, src []byte) (n int, ok bool) {
	if s.op == stringOp {
		return parseString(key.String(s.offset), src)
	}
	if uintptr(len(src)) < s.size {
		return 0, false
	}
	mem := key.Bytes(s.offset, s.size)
	src = src[:len(mem)]
	switch s.op {
	case boolOp:
		if src[0] > 1 {
			return 0, false
		}
		copy(mem, src)
	case floatOp:
		return len(mem), parseFloat(mem, src)
	default:
		copy(mem, src)
		reverseEach(mem, s.width)
	}
	return len(mem), true
}

// parseFloat reads the bits of a float into mem, but not those that appendFloat
// never writes: NaN and −0.
func parseFloat(mem, src []byte) bool {
	copy(mem, src)
	if !littleEndian {
		slices.Reverse(mem)
	}
	var scratch [8]byte
	again, ok := appendFloat(scratch[:0], mem)
	return ok && bytes.Equal(again, src)
}

// parseString reads a length, in as few bytes as it takes, and as many bytes.
func parseString(to *string, src []byte) (n int, ok bool) {
	length, n := binary.Uvarint(src)
	if n <= 0 || n > 1 && src[n-1] == 0 || length > uint64(len(src)-n) {
		return 0, false
	}
	end := n + int(length)
	*to = string(src[n:end])
	return end, true
}
