package firn

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
	codecKey                   // TypedOptions.Key
)

// keyer turns keys into bytes and back.
type keyer[K comparable] struct {
	kind  keyKind
	size  int      // of a number or array
	codec Codec[K] // of codecKey
}

// newKeyer chooses how keys become bytes, or says that they cannot.
func newKeyer[K comparable](c Codec[K]) (keyer[K], error) {
	t := reflect.TypeFor[K]()
	switch {
	case c != nil:
		return keyer[K]{kind: codecKey, codec: c}, nil
	case codec.IsInteger(t.Kind()):
		return keyer[K]{kind: numberKey, size: int(t.Size())}, nil
	case t.Kind() == reflect.String:
		return keyer[K]{kind: stringKey}, nil
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return keyer[K]{kind: arrayKey, size: t.Len()}, nil
	}
	switch ok, why := codec.AppendsBinary(t); {
	case why != "":
		return keyer[K]{}, fmt.Errorf("firn: NewTyped: keys of type %s: %s: want TypedOptions.Key", codec.TypeName(t), why)
	case ok:
		return keyer[K]{kind: appenderKey}, nil
	}
	return keyer[K]{}, fmt.Errorf("firn: NewTyped: keys of type %s: want an integer, a string, an array of bytes, "+
		"a type with AppendBinary, or TypedOptions.Key", codec.TypeName(t))
}

// name tells kinds of keys apart whose bytes mean different things.
func (k *keyer[K]) name() string {
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

// exact reports whether two keys are equal if and only if their bytes are.
func (k *keyer[K]) exact() bool { return k.kind <= arrayKey }

// append appends the bytes of *key to dst. The key has to lie on the heap, or
// its method would put it there.
func (k *keyer[K]) append(dst []byte, key *K) ([]byte, error) {
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

// parse is the reverse of append. Keys that have no way back are an error.
func (k *keyer[K]) parse(src []byte) (key K, err error) {
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
