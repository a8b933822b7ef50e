package firn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"
)

// dynamic is what SetValue knows of a type.
type dynamic struct {
	name  string
	codec string // of its DefaultCodec
	head  []byte
	check func(v reflect.Value, written []byte) error // of JSON
}

var dynamics sync.Map // reflect.Type → *dynamic

func dynamicOf(t reflect.Type) (*dynamic, error) {
	if t == nil {
		return nil, errors.New("nil has no type")
	}
	if known, ok := dynamics.Load(t); ok {
		return known.(*dynamic), nil
	}
	codec, values, err := defaultCodecOf(t)
	if err != nil {
		return nil, err
	}
	d := &dynamic{name: typeName(t), codec: codec, check: faithful(values)}
	head := binary.AppendUvarint(valueFormat.append(nil), uint64(len(d.name)))
	d.head = stampOf(codec, layout(t)).append(append(head, d.name...))
	dynamics.Store(t, d)
	return d, nil
}

// dynamicJSON writes what lies behind a pointer.
var dynamicJSON = JSONCodec[any]()

// append appends what the type's DefaultCodec writes for v.
func (d *dynamic) append(dst []byte, v any) ([]byte, error) {
	dst = append(dst, d.head...)
	rv := reflect.ValueOf(v)
	switch d.codec {
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
				return dst, fmt.Errorf("a nil %s has no bytes", d.name)
			}
			return appendBinary(dst, v)
		}
		return appendBinary(dst, addressable(rv).Addr().Interface())
	}
	start := len(dst)
	dst, err := dynamicJSON.Append(dst, addressable(rv).Addr().Interface())
	if err == nil {
		err = d.check(rv, dst[start:])
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
