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
	name, err := defaultCodecOf(reflect.TypeFor[V]())
	if err != nil {
		return nil, err
	}
	switch name {
	case timeName:
		return any(timeCodec{}).(Codec[V]), nil
	case binaryName:
		return newBinaryCodec[V](), nil
	case stringName:
		return stringCodec[V]{}, nil
	case bytesName:
		return bytesCodec[V]{}, nil
	case arrayName:
		return arrayCodec[V]{}, nil
	case boolName:
		return boolCodec[V]{}, nil
	case numberName:
		return numberCodec[V]{}, nil
	case complexName:
		return complexCodec[V]{}, nil
	}
	return JSONCodec[V](), nil
}

// The names of the built-in codecs. Whoever changes what one of them writes
// gives it another number.
const (
	timeName    = "time/1"
	binaryName  = "binary/1"
	stringName  = "string/1"
	bytesName   = "bytes/1"
	arrayName   = "array/1"
	boolName    = "bool/1"
	numberName  = "number/1"
	complexName = "complex/1"
	jsonName    = "json/1"
)

// defaultCodecOf is the name of a type's DefaultCodec.
func defaultCodecOf(t reflect.Type) (name string, err error) {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return timeName, nil
	case isBinary(t):
		return binaryName, nil
	case k == reflect.String:
		return stringName, nil
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return bytesName, nil
	case k == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return arrayName, nil
	case k == reflect.Bool:
		return boolName, nil
	case isNumber(k):
		return numberName, nil
	case k == reflect.Complex64 || k == reflect.Complex128:
		return complexName, nil
	}
	return jsonName, lostInJSON(t)
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
