package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Encoder writes values of one type, which only reflection knows, as the type's
// Default does.
type Encoder struct {
	name  string                                      // of the Default
	check func(v reflect.Value, written []byte) error // of JSON
}

// EncoderOf makes the encoder of a type. It fails as Default does.
func EncoderOf(t reflect.Type) (*Encoder, error) {
	name, values, err := defaultOf(t)
	if err != nil {
		return nil, err
	}
	return &Encoder{name: name, check: faithful(values)}, nil
}

// Name is that of the type's Default.
func (e *Encoder) Name() string { return e.name }

// anyJSON writes what lies behind a pointer.
var anyJSON = JSON[any]()

// Append appends the bytes of v, which is of the encoder's type, to dst.
func (e *Encoder) Append(dst []byte, v any) ([]byte, error) {
	rv := reflect.ValueOf(v)
	switch e.name {
	case timeName:
		return v.(time.Time).AppendBinary(dst)
	case stringName:
		return append(dst, rv.String()...), nil
	case bytesName:
		return append(dst, rv.Bytes()...), nil
	case arrayName:
		return append(dst, addressable(rv).Bytes()...), nil
	case boolName:
		if rv.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case numberName:
		return appendNumber(dst, rv), nil
	case complexName:
		c := rv.Complex()
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(real(c)))
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(imag(c))), nil
	case binaryName:
		if rv.Kind() == reflect.Pointer {
			if rv.IsNil() {
				return dst, fmt.Errorf("a nil %s has no bytes", TypeName(rv.Type()))
			}
			return appendBinary(dst, v)
		}
		return appendBinary(dst, addressable(rv).Addr().Interface())
	}
	start := len(dst)
	dst, err := anyJSON.Append(dst, addressable(rv).Addr().Interface())
	if err == nil {
		err = e.check(rv, dst[start:])
	}
	return dst, err
}

// addressable is a copy that has an address.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// appendNumber appends a number in as many bytes as its type has.
func appendNumber(dst []byte, v reflect.Value) []byte {
	var bits uint64
	switch {
	case v.CanInt():
		bits = uint64(v.Int())
	case v.CanUint():
		bits = v.Uint()
	case v.Kind() == reflect.Float32:
		bits = uint64(math.Float32bits(float32(v.Float())))
	default:
		bits = math.Float64bits(v.Float())
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return append(dst, b[:v.Type().Size()]...)
}
