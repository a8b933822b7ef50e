// Package cbor stores values as CBOR (RFC 8949), by github.com/fxamacker/cbor.
package cbor

import (
	"bytes"
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"

	"github.com/firncache/firn"
)

// New makes a codec. Structs are maps from field names (or the names in
// `cbor:"…"` or `json:"…"` tags) to values. What the library does not write is
// lost: unexported fields, fields of one name, what lies beside an embedded type
// that marshals itself, and the types of values behind interfaces. Times keep
// their nanoseconds and the offset of their zone, strings any bytes. A value nested
// more than 65,535 deep is written, and cannot be read.
func New[V any]() firn.Codec[V] { return codec[V]{} }

type codec[V any] struct{}

var encoding, decoding = modes()

// modes are the library's defaults with two exceptions: times, which it would cut to
// seconds, and its limits, which are below the sizes that a cache may hold. It checks that
// the input is complete before it allocates.
func modes() (cbor.UserBufferEncMode, cbor.DecMode) {
	enc, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.UserBufferEncMode()
	if err != nil {
		panic(fmt.Sprintf("cbor: %v", err))
	}
	dec, err := cbor.DecOptions{
		MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32, MaxNestedLevels: 65_535, // the most that it takes
		UTF8: cbor.UTF8DecodeInvalid, // what is written is read
	}.DecMode()
	if err != nil {
		panic(fmt.Sprintf("cbor: %v", err))
	}
	return enc, dec
}

func (codec[V]) Name() string { return "cbor/1" }

func (codec[V]) Append(dst []byte, v V) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	err := encoding.MarshalToBuffer(v, buf)
	return buf.Bytes(), err
}

func (codec[V]) Decode(src []byte) (v V, err error) {
	err = decoding.Unmarshal(src, &v)
	return v, err
}
