package codec

import (
	"reflect"
	"time"
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
	name, values, err := defaultOf(t)
	if err != nil {
		return nil, err
	}
	return &Encoder{name, appenderOf(t, name, values)}, nil
}

// Name is that of the type's Default.
func (e *Encoder) Name() string { return e.name }

// Append appends the bytes of v, which is of the encoder's type, to dst.
func (e *Encoder) Append(dst []byte, v any) ([]byte, error) { return e.append(dst, reflect.ValueOf(v)) }

// appenderOf is Append of the codec of a name, which is the Default of t.
func appenderOf(t reflect.Type, name string, values bool) appender {
	switch name {
	case timeName:
		return through(timeCodec{}, func(v reflect.Value) time.Time { return v.Interface().(time.Time) })
	case binaryName:
		if t.Kind() == reflect.Pointer {
			return func(dst []byte, v reflect.Value) ([]byte, error) { return appendPointer(dst, v.Interface()) }
		}
		return func(dst []byte, v reflect.Value) ([]byte, error) { return appendBinary(dst, pointerTo(v)) }
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
	check := faithful(values)
	return through(newJSONCodec[any](func(v reflect.Value, written []byte) error {
		return check(v.Elem().Elem(), written) // the value that the pointer in the interface leads to
	}), pointerTo)
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

// pointerTo points to a copy.
func pointerTo(v reflect.Value) any { return addressable(v).Addr().Interface() }
