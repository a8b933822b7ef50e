package codec

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"time"

	"github.com/firncache/firn/internal/codec/plan"
	"github.com/firncache/firn/internal/offheap"
)

// Codec is firn.Codec, which documents the methods.
type Codec[V any] interface {
	Name() string
	Append(dst []byte, v V) ([]byte, error)
	Decode(src []byte) (V, error)
}

// Default is firn.DefaultCodec.
func Default[V any]() (Codec[V], error) {
	d, err := defaultOf(reflect.TypeFor[V]())
	if err != nil {
		return nil, err
	}
	switch d.name {
	case timeName:
		return any(timeCodec{}).(Codec[V]), nil
	case binaryName:
		return &binaryCodec[V]{with: d.with}, nil
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
	return &planCodec[V]{name: d.name, plan: d.plan}, nil
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
	planName    = "plan/1" // then a space, and a hash of the layout
)

// chosen is the Default of a type.
type chosen struct {
	name string
	with *plan.Methods // of binaryName
	plan *plan.Plan    // of planName
}

// defaultOf is the Default of a type. It fails with the name of what would not come back.
func defaultOf(t reflect.Type) (chosen, error) {
	with := plan.BinaryMethods(t)
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return chosen{name: timeName}, nil
	case with != nil:
		return chosen{name: binaryName, with: with}, nil
	case k == reflect.String:
		return chosen{name: stringName}, nil
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return chosen{name: bytesName}, nil
	case k == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return chosen{name: arrayName}, nil
	case k == reflect.Bool:
		return chosen{name: boolName}, nil
	case isNumber(k):
		return chosen{name: numberName}, nil
	case k == reflect.Complex64 || k == reflect.Complex128:
		return chosen{name: complexName}, nil
	}
	p, layout, err := plan.Of(t)
	if err != nil {
		return chosen{}, err
	}
	hash := sha256.Sum256([]byte(layout))
	return chosen{name: fmt.Sprintf("%s %x", planName, hash[:8]), plan: p}, nil
}

// isNumber reports whether offheap.AppendPlain takes values of the kind, bool apart.
func isNumber(k reflect.Kind) bool {
	return IsInteger(k) || k == reflect.Float32 || k == reflect.Float64
}

// IsInteger reports whether the kind is one of the integers.
func IsInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// AppendsBinary is plan.AppendsBinary.
func AppendsBinary(t reflect.Type) (ok bool, why string) { return plan.AppendsBinary(t) }

// IsImmutable is plan.IsImmutable.
func IsImmutable(t reflect.Type) bool { return plan.IsImmutable(t) }

// WrongLength is a codec's error for bytes that are not its own.
func WrongLength[V any](got int, want any) error {
	return fmt.Errorf("%d bytes for a value of type %s: want %v", got, TypeName(reflect.TypeFor[V]()), want)
}

// Inline is how many of the bytes that a codec makes of a value lie in the value itself, and not
// in memory that it refers to: 0 where that is unknown.
func Inline[V any](c Codec[V]) int {
	switch c := c.(type) {
	case *planCodec[V]:
		return c.plan.Least()
	case arrayCodec[V], numberCodec[V], boolCodec[V]:
		var v V
		return len(offheap.ArrayOf(&v))
	}
	return 0
}
