package firn

import (
	"encoding"
	"fmt"
	"reflect"
	"time"
)

// Codec turns values into bytes and back. Its methods may be called by many
// goroutines at once.
//
// Package firn has codecs for what needs no other library, see DefaultCodec;
// the packages under codec/ have others.
type Codec[V any] interface {
	// Name names the format of the bytes, with a version: "json/1". Bytes that
	// were written under another name are not decoded: they are a miss.
	Name() string

	// Append appends the bytes of v to dst and returns the extended slice. It
	// keeps neither. With an error, nothing is stored.
	Append(dst []byte, v V) ([]byte, error)

	// Decode makes a value of bytes that Append wrote, or, after a fault, of
	// any others: those are an error, never a panic or an allocation out of
	// proportion. src is lent until it returns: the value must not share memory
	// with it.
	Decode(src []byte) (V, error)
}

// DefaultCodec is the codec that NewTyped and SetValue choose for a type, the
// first of these that fits:
//
//   - time.Time: its AppendBinary
//   - a type, or a pointer to one, with AppendBinary or MarshalBinary, and with
//     UnmarshalBinary (package encoding): those
//   - a type whose underlying type is []byte, string or an array of bytes: the
//     bytes as they are; nil slices come back empty
//   - a type whose underlying type is a number or bool: 1 to 16 bytes,
//     little-endian
//   - any other: JSONCodec. It is an error if JSON could not bring back what it
//     was given: for interface types, and for structs with unexported fields,
//     or fields of function, channel or method-bearing interface types, unless
//     their tag is `json:"-"`, or the type marshals itself.
func DefaultCodec[V any]() (Codec[V], error) {
	t := reflect.TypeFor[V]()
	if t == reflect.TypeFor[time.Time]() {
		return any(timeCodec{}).(Codec[V]), nil
	}
	if c, ok := newBinaryCodec[V](); ok {
		return c, nil
	}
	switch t.Kind() {
	case reflect.String:
		return stringCodec[V]{}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesCodec[V]{}, nil
		}
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return arrayCodec[V]{}, nil
		}
	case reflect.Bool:
		return boolCodec[V]{}, nil
	case reflect.Complex64, reflect.Complex128:
		return complexCodec[V]{}, nil
	}
	if isNumber(t.Kind()) {
		return numberCodec[V]{}, nil
	}
	if err := lostInJSON(t); err != nil {
		return nil, err
	}
	return JSONCodec[V](), nil
}

// isNumber reports whether AppendPlain takes values of the kind, bool apart.
func isNumber(k reflect.Kind) bool {
	return isInteger(k) || k == reflect.Float32 || k == reflect.Float64
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// implements reports whether t, or a pointer to it, has the methods of T.
func implements[T any](t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[T]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[T]())
}

// marshalsItself reports whether a type's methods decide what its bytes are.
func marshalsItself(t reflect.Type) bool {
	return isBinary(t) || implements[jsonMarshaler](t) && implements[jsonUnmarshaler](t) ||
		implements[encoding.TextMarshaler](t) && implements[encoding.TextUnmarshaler](t)
}

// wrongLength is what a codec says of bytes that are not its own.
func wrongLength[V any](got int, want any) error {
	return fmt.Errorf("%d bytes for a %s: want %v", got, typeName(reflect.TypeFor[V]()), want)
}
