package codec

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// binaryCodec serves types that marshal themselves. Values pass through holders,
// because a value whose method is called through an interface lies on the heap:
// one holder serves many.
type binaryCodec[V any] struct {
	pointer reflect.Type // the type that V points to, if V itself has the methods
	holders sync.Pool    // of *holder[V]
}

// holder is a place on the heap for a value on its way through a codec.
type holder[V any] struct{ v V }

// isBinary reports whether t, or a pointer to it, has the methods.
func isBinary(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && implements[encoding.BinaryUnmarshaler](t) &&
		(implements[encoding.BinaryAppender](t) || implements[encoding.BinaryMarshaler](t))
}

// AppendsBinary reports whether t, or a pointer to it, has AppendBinary, and why
// that method leaves some of a value out, if it does.
func AppendsBinary(t reflect.Type) (ok bool, why string) {
	if t.Kind() == reflect.Interface || !implements[encoding.BinaryAppender](t) {
		return false, ""
	}
	return true, strings.TrimSuffix(promotion(t, appendBinaryMethod, fromBinaryMethod), ",")
}

// newBinaryCodec makes the codec of a type that isBinary.
func newBinaryCodec[V any]() *binaryCodec[V] {
	t := reflect.TypeFor[V]()
	b := &binaryCodec[V]{}
	b.holders.New = func() any { return new(holder[V]) }
	if t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]()) {
		b.pointer = t.Elem()
	}
	return b
}

func (b *binaryCodec[V]) Name() string { return binaryName }

func (b *binaryCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	if b.pointer != nil {
		return appendPointer(dst, v)
	}
	h := b.holders.Get().(*holder[V])
	h.v = v
	dst, err := appendBinary(dst, &h.v)
	b.release(h)
	return dst, err
}

// appendPointer appends the bytes of the value that v points to, by the methods of v.
func appendPointer(dst []byte, v any) ([]byte, error) {
	if p := reflect.ValueOf(v); p.IsNil() {
		return dst, fmt.Errorf("a nil %s has no bytes", TypeName(p.Type()))
	}
	return appendBinary(dst, v)
}

func appendBinary(dst []byte, v any) ([]byte, error) {
	if a, ok := v.(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst)
	}
	data, err := v.(encoding.BinaryMarshaler).MarshalBinary()
	return append(dst, data...), err
}

func (b *binaryCodec[V]) Decode(src []byte) (v V, err error) {
	if b.pointer != nil {
		p := reflect.New(b.pointer).Interface()
		if err = p.(encoding.BinaryUnmarshaler).UnmarshalBinary(src); err != nil {
			return v, err
		}
		return p.(V), nil
	}
	h := b.holders.Get().(*holder[V])
	err = any(&h.v).(encoding.BinaryUnmarshaler).UnmarshalBinary(src)
	if err == nil {
		v = h.v
	}
	b.release(h)
	return v, err
}

// release empties a holder, so that it keeps nothing alive and its next value
// shares no memory with this one.
func (b *binaryCodec[V]) release(h *holder[V]) {
	*h = holder[V]{}
	b.holders.Put(h)
}
