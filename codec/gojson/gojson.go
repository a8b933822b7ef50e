// Package gojson stores values as JSON, by github.com/goccy/go-json, which is
// faster than encoding/json for most types.
package gojson

import (
	"fmt"

	"github.com/goccy/go-json"

	"github.com/firncache/firn"
)

// New makes a codec. It loses what firn.JSONCodec loses. It does not read what
// that one wrote: whether both write the same for every type is not known.
func New[V any]() firn.Codec[V] { return codec[V]{} }

type codec[V any] struct{}

func (codec[V]) Name() string { return "goccy-json/1" }

func (codec[V]) Append(dst []byte, v V) ([]byte, error) {
	data, err := json.MarshalWithOption(&v, json.DisableHTMLEscape())
	return append(dst, data...), err
}

func (codec[V]) Decode(src []byte) (v V, err error) {
	defer func() {
		if r := recover(); r != nil {
			var none V
			v, err = none, fmt.Errorf("go-json: %v", r)
		}
	}()
	err = json.Unmarshal(src, &v)
	return v, err
}
