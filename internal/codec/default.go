package codec

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Codec is firn.Codec, which documents the methods.
type Codec[V any] interface {
	Name() string
	Append(dst []byte, v V) ([]byte, error)
	Decode(src []byte) (V, error)
}

// Default is firn.DefaultCodec.
func Default[V any]() (Codec[V], error) {
	name, values, err := defaultOf(reflect.TypeFor[V]())
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

// The names of the built-in codecs. A change of the bytes that one of them writes
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

// defaultOf is the name of a type's Default. Of JSON, values is that of
// lostInJSON.
func defaultOf(t reflect.Type) (name string, values bool, err error) {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return timeName, false, nil
	case isBinary(t):
		if why := promotion(t, appendBinaryMethod, toBinaryMethod, fromBinaryMethod); why != "" {
			return "", false, fmt.Errorf("%s %s: set a Codec", TypeName(t), strings.TrimSuffix(why, ","))
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

// isNumber reports whether offheap.AppendPlain takes values of the kind, bool apart.
func isNumber(k reflect.Kind) bool {
	return IsInteger(k) || k == reflect.Float32 || k == reflect.Float64
}

// IsInteger reports whether the kind is one of the integers.
func IsInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// implements reports whether t, or a pointer to it, has the methods of T.
func implements[T any](t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[T]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[T]())
}

// marshalsItself reports whether a type's methods decide its bytes.
func marshalsItself(t reflect.Type) bool {
	return isBinary(t) || implements[jsonMarshaler](t) && implements[jsonUnmarshaler](t) ||
		implements[encoding.TextMarshaler](t) && implements[encoding.TextUnmarshaler](t)
}

// WrongLength is a codec's error for bytes that are not its own.
func WrongLength[V any](got int, want any) error {
	return fmt.Errorf("%d bytes for a %s: want %v", got, TypeName(reflect.TypeFor[V]()), want)
}
