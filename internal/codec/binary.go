package codec

import "github.com/firncache/firn/internal/codec/plan"

// binaryCodec serves types that marshal themselves.
type binaryCodec[V any] struct {
	with    *plan.Methods
	holders holders[V]
}

func (b *binaryCodec[V]) Name() string { return binaryName }

func (b *binaryCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	h := b.holders.get()
	h.v = v
	dst, err := b.with.Append(dst, &h.v)
	b.holders.put(h)
	return dst, err
}

func (b *binaryCodec[V]) Decode(src []byte) (v V, err error) {
	h := b.holders.get()
	if err = b.with.Decode(src, &h.v); err == nil {
		v = h.v
	}
	b.holders.put(h)
	return v, err
}
