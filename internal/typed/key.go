package typed

import (
	"encoding"
	"fmt"
	"reflect"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/offheap"
)

// keyKind says how a key becomes bytes.
type keyKind uint8

const (
	numberKey   keyKind = iota // an integer: its bytes, little-endian
	stringKey                  // a string: its bytes
	arrayKey                   // [N]byte: its bytes
	appenderKey                // encoding.BinaryAppender
	codecKey                   // TypedOptions.KeyCodec
)

// Keys turns keys into bytes and back.
type Keys[K comparable] struct {
	kind  keyKind
	size  int            // of a number or array
	codec codec.Codec[K] // of codecKey
}

// NewKeys chooses how keys become bytes, or says that they cannot.
func NewKeys[K comparable](c codec.Codec[K]) (Keys[K], error) {
	t := reflect.TypeFor[K]()
	switch {
	case c != nil:
		return Keys[K]{kind: codecKey, codec: c}, nil
	case codec.IsInteger(t.Kind()):
		return Keys[K]{kind: numberKey, size: int(t.Size())}, nil
	case t.Kind() == reflect.String:
		return Keys[K]{kind: stringKey}, nil
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return Keys[K]{kind: arrayKey, size: t.Len()}, nil
	}
	switch ok, why := codec.AppendsBinary(t); {
	case why != "":
		return Keys[K]{}, fmt.Errorf("keys of type %s: %s: want TypedOptions.KeyCodec", codec.TypeName(t), why)
	case ok:
		return Keys[K]{kind: appenderKey}, nil
	}
	return Keys[K]{}, fmt.Errorf("keys of type %s: want an integer, a string, an array of bytes, "+
		"a type with AppendBinary, or TypedOptions.KeyCodec", codec.TypeName(t))
}

// Name tells kinds of keys apart whose bytes mean different things.
func (k *Keys[K]) Name() string {
	switch k.kind {
	case numberKey:
		return fmt.Sprintf("number/%d", k.size)
	case stringKey:
		return "string"
	case arrayKey:
		return fmt.Sprintf("array/%d", k.size)
	case codecKey:
		return "codec " + k.codec.Name()
	}
	return "binary " + codec.TypeName(reflect.TypeFor[K]())
}

// Exact reports whether two keys are equal if and only if their bytes are.
func (k *Keys[K]) Exact() bool { return k.kind <= arrayKey }

// Append appends the bytes of *key to dst. The key has to lie on the heap, or
// its method would put it there.
func (k *Keys[K]) Append(dst []byte, key *K) ([]byte, error) {
	switch k.kind {
	case numberKey:
		return offheap.AppendPlain(dst, key), nil
	case stringKey:
		return append(dst, *offheap.StringOf(key)...), nil
	case arrayKey:
		return append(dst, offheap.ArrayOf(key)...), nil
	case codecKey:
		return k.codec.Append(dst, *key)
	}
	if a, ok := any(key).(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst)
	}
	return any(*key).(encoding.BinaryAppender).AppendBinary(dst)
}

// Parse is the reverse of Append. Keys that have no way back are an error.
func (k *Keys[K]) Parse(src []byte) (key K, err error) {
	switch k.kind {
	case numberKey:
		if len(src) != k.size {
			return key, codec.WrongLength[K](len(src), k.size)
		}
		offheap.LoadPlain(&key, src)
		return key, nil
	case stringKey:
		*offheap.StringOf(&key) = string(src)
		return key, nil
	case arrayKey:
		if len(src) != k.size {
			return key, codec.WrongLength[K](len(src), k.size)
		}
		copy(offheap.ArrayOf(&key), src)
		return key, nil
	case codecKey:
		return k.codec.Decode(src)
	}
	if u, ok := any(&key).(encoding.BinaryUnmarshaler); ok {
		return key, u.UnmarshalBinary(src)
	}
	return key, fmt.Errorf("keys of type %s have no UnmarshalBinary", codec.TypeName(reflect.TypeFor[K]()))
}
