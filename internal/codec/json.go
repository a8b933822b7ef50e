package codec

import (
	"encoding/json"
	"sync"
)

// jsonCodec is encoding/json. Values pass through holders, as in binaryCodec.
type jsonCodec[V any] struct {
	holders sync.Pool // of *jsonHolder[V]
}

type jsonHolder[V any] struct {
	v       V
	out     []byte
	encoder *json.Encoder // writes to out
}

// Write makes a holder the io.Writer of its encoder.
func (h *jsonHolder[V]) Write(p []byte) (int, error) {
	h.out = append(h.out, p...)
	return len(p), nil
}

// JSON is firn.JSONCodec.
func JSON[V any]() Codec[V] {
	c := &jsonCodec[V]{}
	c.holders.New = func() any {
		h := &jsonHolder[V]{}
		h.encoder = json.NewEncoder(h)
		h.encoder.SetEscapeHTML(false)
		return h
	}
	return c
}

func (c *jsonCodec[V]) Name() string { return jsonName }

func (c *jsonCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	h := c.holders.Get().(*jsonHolder[V])
	h.v, h.out = v, dst
	err := h.encoder.Encode(&h.v)
	out := h.out
	c.release(h)
	if err != nil {
		return dst, err
	}
	return out[:len(out)-1], nil // without the newline
}

func (c *jsonCodec[V]) Decode(src []byte) (v V, err error) {
	h := c.holders.Get().(*jsonHolder[V])
	if err = json.Unmarshal(src, &h.v); err == nil {
		v = h.v
	}
	c.release(h)
	return v, err
}

func (c *jsonCodec[V]) release(h *jsonHolder[V]) {
	var none V
	h.v, h.out = none, nil
	c.holders.Put(h)
}
