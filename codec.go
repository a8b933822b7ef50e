package firn

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
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
//   - any other: that of JSONCodec, for what JSON brings back as it was given.
//
// A type of which JSON would lose something is an error that names the field,
// unless its tag is `json:"-"`, or its type marshals itself: interface types;
// unexported fields; fields of function, channel or method-bearing interface
// types; two fields of one name, one of which may be embedded; map keys that are
// neither strings nor integers nor text. So is a struct that has its methods
// from an embedded type, as from time.Time, and other fields beside it.
//
// A value of which JSON would lose something is an error of Append: a string that
// is not UTF-8, a pointer to nil, what a type that only reads its JSON itself reads
// as something else, and in an interface whatever is not a bool, a float64, a
// string, or an []any or map[string]any of such. Where that is meant,
// JSONCodec takes everything. What a tag like omitempty leaves out is left out.
func DefaultCodec[V any]() (Codec[V], error) {
	name, values, err := defaultCodecOf(reflect.TypeFor[V]())
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
	return newJSONCodec[V](faithful(values)), nil
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

// defaultCodecOf is the name of a type's DefaultCodec. Of JSON, values is that of
// lostInJSON.
func defaultCodecOf(t reflect.Type) (name string, values bool, err error) {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return timeName, false, nil
	case isBinary(t):
		if why := promotion(t, appendBinaryMethod, toBinaryMethod, fromBinaryMethod); why != "" {
			return "", false, fmt.Errorf("%s %s: set a Codec", typeName(t), strings.TrimSuffix(why, ","))
		}
		return binaryName, false, nil
	case k == reflect.String:
		return stringName, false, nil
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return bytesName, false, nil
	case k == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return arrayName, false, nil
	case k == reflect.Bool:
		return boolName, false, nil
	case isNumber(k):
		return numberName, false, nil
	case k == reflect.Complex64 || k == reflect.Complex128:
		return complexName, false, nil
	}
	values, err = lostInJSON(t)
	return jsonName, values, err
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
