// Package msgpack stores values as MessagePack, by github.com/shamaton/msgpack.
package msgpack

import (
	"bytes"
	"fmt"

	"github.com/shamaton/msgpack/v3"

	"github.com/firncache/firn"
)

// New makes a codec. Structs are maps from field names (or the names in
// `msgpack:"…"` tags) to values. What the library does not write is lost:
// unexported fields, fields of one name, embedded types without exported fields,
// such as time.Time, and the types of values behind interfaces. Times come back in
// the local time zone. A value nested more than
// 10,000 deep is written, and cannot be read.
func New[V any]() firn.Codec[V] { return codec[V]{} }

type codec[V any] struct{}

func (codec[V]) Name() string { return "msgpack/1" }

func (codec[V]) Append(dst []byte, v V) ([]byte, error) {
	data, err := msgpack.MarshalAsMap(v)
	return append(dst, data...), err
}

// Decode gives the library a copy, because byte slices that it decodes share
// memory with its input. The copy is checked before: the library reads beyond
// the end of truncated input, and follows nested input without a limit.
func (codec[V]) Decode(src []byte) (v V, err error) {
	if err := wellFormed(src); err != nil {
		return v, err
	}
	defer func() {
		if r := recover(); r != nil { // where bytes and type do not match
			var none V
			v, err = none, fmt.Errorf("msgpack: %v", r)
		}
	}()
	err = msgpack.UnmarshalAsMap(bytes.Clone(src), &v)
	return v, err
}
