package codec

import (
	"reflect"
	"time"

	"github.com/firncache/firn/internal/offheap"
)

// Encoder writes values of one type, which only reflection knows, as the type's
// Default does.
type Encoder struct {
	name   string // of the Default
	append appender
}

// appender appends the bytes of a value to dst.
type appender func(dst []byte, v reflect.Value) ([]byte, error)

// EncoderOf makes the encoder of a type. It fails as Default does.
func EncoderOf(t reflect.Type) (*Encoder, error) {
	d, err := defaultOf(t)
	if err != nil {
		return nil, err
	}
	return &Encoder{d.name, appenderOf(t, d)}, nil
}

// Name is that of the type's Default.
func (e *Encoder) Name() string { return e.name }

// Append appends the bytes of v, which is of the encoder's type, to dst.
func (e *Encoder) Append(dst []byte, v any) ([]byte, error) { return e.append(dst, reflect.ValueOf(v)) }

// appenderOf is Append of the codec that is the Default of t.
func appenderOf(t reflect.Type, d chosen) appender {
	switch d.name {
	case timeName:
		return through(timeCodec{}, func(v reflect.Value) time.Time { return v.Interface().(time.Time) })
	case binaryName:
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			return d.with.Append(dst, addressable(v).Addr().Interface())
		}
	case stringName:
		return through(stringCodec[string]{}, reflect.Value.String)
	case bytesName:
		return through(bytesCodec[[]byte]{}, reflect.Value.Bytes)
	case arrayName:
		return through(bytesCodec[[]byte]{}, func(v reflect.Value) []byte { return addressable(v).Bytes() })
	case boolName:
		return through(boolCodec[bool]{}, reflect.Value.Bool)
	case numberName:
		return numberAppender(t)
	case complexName:
		return through(complexCodec[complex128]{}, reflect.Value.Complex)
	}
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		return d.plan.Append(dst, offheap.FieldsAt(addressable(v).Addr()))
	}
}

// through makes an appender of a codec and what turns a value into one of the
// codec's type.
func through[V any](c Codec[V], from func(v reflect.Value) V) appender {
	return func(dst []byte, v reflect.Value) ([]byte, error) { return c.Append(dst, from(v)) }
}

// numberAppender is the appender of a type of numbers.
func numberAppender(t reflect.Type) appender {
	switch t.Kind() {
	case reflect.Float32:
		return through(numberCodec[float32]{}, func(v reflect.Value) float32 { return float32(v.Float()) })
	case reflect.Float64:
		return through(numberCodec[float64]{}, reflect.Value.Float)
	}
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		var bits uint64
		if v.CanInt() {
			bits = uint64(v.Int())
		} else {
			bits = v.Uint()
		}
		end := len(dst) + int(t.Size()) // the low bytes come first
		dst, err := numberCodec[uint64]{}.Append(dst, bits)
		return dst[:end], err
	}
}

// addressable is a copy that has an address.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}
