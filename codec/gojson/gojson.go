// Package gojson stores values as JSON, by github.com/goccy/go-json, which is
// faster than encoding/json for most types.
package gojson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-json"

	"github.com/firncache/firn"
)

// New makes a codec. It loses what firn.JSONCodec loses, but strings that are not
// UTF-8 are an error. It does not read what that one wrote: whether both write the same for every type is not known.
func New[V any]() firn.Codec[V] { return codec[V]{} }

type codec[V any] struct{}

func (codec[V]) Name() string { return "goccy-json/1" }

func (codec[V]) Append(dst []byte, v V) ([]byte, error) {
	data, err := json.MarshalWithOption(&v, json.DisableHTMLEscape())
	if err == nil && replaced(data) {
		err = errNotUTF8
	}
	return append(dst, data...), err
}

var errNotUTF8 = errors.New("go-json: a string is not UTF-8, and would be changed")

// replaced reports whether a byte that is not UTF-8 was replaced: by an escape
// which the library does not write otherwise.
func replaced(data []byte) bool {
	for {
		i := bytes.Index(data, []byte(`\ufffd`))
		if i < 0 {
			return false
		}
		before := data[:i]
		if slashes := len(before) - len(bytes.TrimRight(before, `\`)); slashes%2 == 0 {
			return true
		}
		data = data[i+1:]
	}
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
