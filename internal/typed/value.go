package typed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/firncache/firn/internal/codec"
)

// A value that names its own type, as those of SetValue do, is stored behind
// a header:
//
//	+--------+----------------+------+-------------+- - - - -+
//	| format | length of name | name | fingerprint | payload |
//	| 4      | uvarint        |      | 4           |         |
//	+--------+----------------+------+-------------+- - - - -+
//
// The name is the type's. The fingerprint is of codec and layout, as in a Typed.
var valueFormat = codec.FingerprintOf("values/1")

// header is the header of a type's values.
func header(t reflect.Type, codecName string) []byte {
	name := codec.TypeName(t)
	h := binary.AppendUvarint(valueFormat.Append(nil), uint64(len(name)))
	return fingerprint(t, codecName).Append(append(h, name...))
}

func fingerprint(t reflect.Type, codecName string) codec.Fingerprint {
	return codec.FingerprintOf(codecName, codec.Layout(codecName, t))
}

// CutHeader takes the header off a stored value. It reports false if there is
// none.
func CutHeader(stored []byte) (name []byte, f codec.Fingerprint, payload []byte, ok bool) {
	rest, ok := valueFormat.Cut(stored)
	if !ok {
		return nil, 0, nil, false
	}
	n, skip := binary.Uvarint(rest)
	if skip <= 0 || n > uint64(len(rest)-skip) {
		return nil, 0, nil, false
	}
	name, rest = rest[skip:skip+int(n)], rest[skip+int(n):]
	if len(rest) < codec.FingerprintLen {
		return nil, 0, nil, false
	}
	return name, codec.Fingerprint(binary.LittleEndian.Uint32(rest)), rest[codec.FingerprintLen:], true
}

// Writer writes the values of one type, which only reflection knows, behind their
// header.
type Writer struct {
	name    string
	header  []byte
	encoder *codec.Encoder
}

var writers sync.Map // reflect.Type → *Writer

// WriterOf is the writer of a type, which is that of an interface's value.
func WriterOf(t reflect.Type) (*Writer, error) {
	if t == nil {
		return nil, errors.New("nil has no type")
	}
	if known, ok := writers.Load(t); ok {
		return known.(*Writer), nil
	}
	encoder, err := codec.EncoderOf(t)
	if err != nil {
		return nil, err
	}
	w := &Writer{codec.TypeName(t), header(t, encoder.Name()), encoder}
	writers.Store(t, w)
	return w, nil
}

// Append appends header and payload of v to dst.
func (w *Writer) Append(dst []byte, v any) ([]byte, error) {
	dst, err := w.encoder.Append(append(dst, w.header...), v)
	if err != nil {
		return dst, fmt.Errorf("encode a %s as %s: %w", w.name, w.encoder.Name(), err)
	}
	return dst, nil
}

// Reader is the means to read the values of one type.
type Reader[T any] struct {
	Name        string // of the type
	Fingerprint codec.Fingerprint
	Codec       codec.Codec[T]
}

var readers sync.Map // reflect.Type of T → *Reader[T]

// ReaderOf is the reader of a type.
func ReaderOf[T any]() (*Reader[T], error) {
	t := reflect.TypeFor[T]()
	if known, ok := readers.Load(t); ok {
		return known.(*Reader[T]), nil
	}
	c, err := codec.Default[T]()
	if err != nil {
		return nil, err
	}
	r := &Reader[T]{codec.TypeName(t), fingerprint(t, c.Name()), c}
	readers.Store(t, r)
	return r, nil
}
