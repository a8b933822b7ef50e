package codec

import (
	"github.com/firncache/firn/internal/codec/plan"
	"github.com/firncache/firn/internal/offheap"
)

// planCodec is the codec of a plan. Values pass through holders, as in binaryCodec.
type planCodec[V any] struct {
	name    string
	plan    *plan.Plan
	holders holders[V]
}

func (c *planCodec[V]) Name() string { return c.name }

func (c *planCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	h := c.holders.get()
	h.v = v
	out, err := c.plan.Append(dst, offheap.FieldsOf(&h.v))
	c.holders.put(h)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (c *planCodec[V]) Decode(src []byte) (v V, err error) {
	h := c.holders.get()
	if err = c.plan.Read(offheap.FieldsOf(&h.v), src); err == nil {
		v = h.v
	}
	c.holders.put(h)
	return v, err
}
