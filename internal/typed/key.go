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
	partsKey                   // bools, floats, structs and arrays: their parts
	appenderKey                // encoding.BinaryAppender
	codecKey                   // TypedOptions.KeyCodec
)

// Keys turns keys into bytes and back.
type Keys[K comparable] struct {
	kind  keyKind
	size  int            // of a number or array
	codec codec.Codec[K] // of codecKey
	parts parts          // of partsKey
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
	ok, why := codec.AppendsBinary(t)
	if ok && why == "" {
		return Keys[K]{kind: appenderKey}, nil
	}
	p, err := newParts(t)
	switch {
	case err == nil:
		return Keys[K]{kind: partsKey, parts: p}, nil
	case why != "":
		return Keys[K]{}, fmt.Errorf("keys of type %s: %s: want TypedOptions.KeyCodec", codec.TypeName(t), why)
	}
	return Keys[K]{}, fmt.Errorf("keys of type %s: %w", codec.TypeName(t), err)
}

// Name distinguishes keys whose bytes mean different things. A declared type
// is part of it, for two of them are two meanings of the same bytes, as the numbers
// of users and of orders are. Go's own integers of one size are one.
func (k *Keys[K]) Name() string {
	t := reflect.TypeFor[K]()
	name := ""
	switch k.kind {
	case numberKey:
		name = fmt.Sprintf("number/%d", k.size)
	case stringKey:
		name = "string"
	case arrayKey:
		name = fmt.Sprintf("array/%d", k.size)
	case codecKey:
		name = "codec " + k.codec.Name()
	case partsKey:
		return "parts " + layout(t)
	case appenderKey:
		return "binary " + codec.TypeName(t)
	}
	if !predeclared(t) {
		name += " " + codec.TypeName(t)
	}
	return name
}

// predeclared reports whether a type is one of Go's own, or an array of such.
func predeclared(t reflect.Type) bool {
	return t.PkgPath() == "" && (t.Name() != "" || t.Kind() == reflect.Array && predeclared(t.Elem()))
}

// Exact reports whether two keys are equal if and only if their bytes are.
func (k *Keys[K]) Exact() bool { return k.kind <= partsKey }

// Reversible reports whether Parse is the reverse of Append.
func (k *Keys[K]) Reversible() bool {
	if k.kind != appenderKey {
		return true
	}
	_, ok := any(new(K)).(encoding.BinaryUnmarshaler)
	return ok
}

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
	case partsKey:
		return k.parts.append(dst, offheap.FieldsOf(key))
	case codecKey:
		return k.codec.Append(dst, *key)
	}
	if a, ok := any(key).(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst)
	}
	return any(*key).(encoding.BinaryAppender).AppendBinary(dst)
}

// View is Parse of a key that is not kept: a string may lie in src.
func (k *Keys[K]) View(src []byte) (key K, err error) {
	if k.kind == stringKey {
		*offheap.StringOf(&key) = offheap.StringIn(src)
		return key, nil
	}
	return k.Parse(src)
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
	case partsKey:
		return k.parseParts(src)
	case codecKey:
		return k.codec.Decode(src)
	}
	return unmarshal[K](src)
}

// parseParts and unmarshal are apart, as they put the key on the heap.
func (k *Keys[K]) parseParts(src []byte) (key K, err error) {
	err = k.parts.parse(offheap.FieldsOf(&key), src)
	return key, err
}

func unmarshal[K comparable](src []byte) (key K, err error) {
	if u, ok := any(&key).(encoding.BinaryUnmarshaler); ok {
		return key, u.UnmarshalBinary(src)
	}
	return key, fmt.Errorf("keys of type %s have no UnmarshalBinary", codec.TypeName(reflect.TypeFor[K]()))
}
