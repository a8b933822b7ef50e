package plan

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
)

// Methods are those with which a type turns its values into bytes itself, and back. p points
// to a value.
type Methods struct {
	name   string
	Append func(dst []byte, p any) ([]byte, error)
	Decode func(src []byte, p any) error
}

// BinaryMethods are those of package encoding for bytes, if a type or a pointer to it has
// declared them: nil without.
func BinaryMethods(t reflect.Type) *Methods {
	m := Methods{name: "binary/1", Decode: func(src []byte, p any) error {
		return p.(encoding.BinaryUnmarshaler).UnmarshalBinary(src)
	}}
	switch {
	case !fromBinaryMethod.isOf(t):
		return nil
	case appendBinaryMethod.isOf(t):
		m.Append = func(dst []byte, p any) ([]byte, error) { return p.(encoding.BinaryAppender).AppendBinary(dst) }
	case toBinaryMethod.isOf(t):
		m.Append = func(dst []byte, p any) ([]byte, error) {
			data, err := p.(encoding.BinaryMarshaler).MarshalBinary()
			return append(dst, data...), err
		}
	default:
		return nil
	}
	return &m
}

// TextMethods are likewise for text.
func TextMethods(t reflect.Type) *Methods {
	if !fromTextMethod.isOf(t) || !toTextMethod.isOf(t) {
		return nil
	}
	return &Methods{"text",
		func(dst []byte, p any) ([]byte, error) {
			text, err := p.(encoding.TextMarshaler).MarshalText()
			return append(dst, text...), err
		},
		func(src []byte, p any) error { return p.(encoding.TextUnmarshaler).UnmarshalText(src) }}
}

// JSONMethods are likewise for JSON.
func JSONMethods(t reflect.Type) *Methods {
	if !fromJSONMethod.isOf(t) || !toJSONMethod.isOf(t) {
		return nil
	}
	return &Methods{"json",
		func(dst []byte, p any) ([]byte, error) {
			data, err := p.(json.Marshaler).MarshalJSON()
			return append(dst, data...), err
		},
		func(src []byte, p any) error {
			if !json.Valid(src) { // as encoding/json has seen to before it calls the method
				return errors.New("not JSON")
			}
			return p.(json.Unmarshaler).UnmarshalJSON(src)
		}}
}
