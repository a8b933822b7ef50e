package codec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/firncache/firn/internal/codec/plan"
	"github.com/firncache/firn/internal/offheap"
)

// The codecs of plain values. V is of the kind that the name says: Default
// has checked it.

// Taker is a Codec whose values may consist of the bytes themselves.
type Taker[V any] interface {
	// Take is Decode of bytes that the value takes over, instead of a copy.
	Take(src []byte) V
	builtIn() // a codec of the user's may have a Take that means something else
}

type stringCodec[V any] struct{}

func (stringCodec[V]) Name() string { return stringName }

func (stringCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	return append(dst, *offheap.StringOf(&v)...), nil
}

func (stringCodec[V]) Decode(src []byte) (v V, err error) {
	*offheap.StringOf(&v) = string(src)
	return v, nil
}

func (stringCodec[V]) builtIn() {}

func (stringCodec[V]) Take(src []byte) (v V) {
	*offheap.StringOf(&v) = offheap.String(src)
	return v
}

type bytesCodec[V any] struct{}

func (bytesCodec[V]) Name() string { return bytesName }

func (bytesCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	return append(dst, *offheap.BytesOf(&v)...), nil
}

func (bytesCodec[V]) Decode(src []byte) (v V, err error) {
	own := make([]byte, len(src)) // not cleared before the copy
	copy(own, src)
	return bytesCodec[V]{}.Take(own), nil
}

func (bytesCodec[V]) builtIn() {}

func (bytesCodec[V]) Take(src []byte) (v V) {
	*offheap.BytesOf(&v) = slices.Clip(src)
	return v
}

type arrayCodec[V any] struct{}

func (arrayCodec[V]) Name() string { return arrayName }

func (arrayCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	return append(dst, offheap.ArrayOf(&v)...), nil
}

func (arrayCodec[V]) Decode(src []byte) (v V, err error) {
	if to := offheap.ArrayOf(&v); len(src) != len(to) {
		return v, WrongLength[V](len(src), len(to))
	}
	copy(offheap.ArrayOf(&v), src)
	return v, nil
}

type numberCodec[V any] struct{}

func (numberCodec[V]) Name() string { return numberName }

func (numberCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	return offheap.AppendPlain(dst, &v), nil
}

func (numberCodec[V]) Decode(src []byte) (v V, err error) {
	if n := len(offheap.ArrayOf(&v)); len(src) != n {
		return v, WrongLength[V](len(src), n)
	}
	offheap.LoadPlain(&v, src)
	return v, nil
}

// boolCodec is numberCodec that knows that a bool of other bits than 0 and 1
// does not exist.
type boolCodec[V any] struct{}

func (boolCodec[V]) Name() string { return boolName }

func (boolCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	return offheap.AppendPlain(dst, &v), nil
}

func (boolCodec[V]) Decode(src []byte) (v V, err error) {
	if len(src) != 1 || src[0] > 1 {
		return v, fmt.Errorf("%x for a bool: want 00 or 01", src[:min(len(src), 8)])
	}
	offheap.LoadPlain(&v, src)
	return v, nil
}

// complexCodec stores 16 bytes, whichever of the two types it is.
type complexCodec[V any] struct{}

func (complexCodec[V]) Name() string { return complexName }

func (complexCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	c := reflect.ValueOf(&v).Elem().Complex()
	re, im := math.Float64bits(real(c)), math.Float64bits(imag(c))
	return offheap.AppendPlain(offheap.AppendPlain(dst, &re), &im), nil
}

func (complexCodec[V]) Decode(src []byte) (v V, err error) {
	if len(src) != 16 {
		return v, WrongLength[V](len(src), 16)
	}
	var re, im float64
	offheap.LoadPlain(&re, src)
	offheap.LoadPlain(&im, src[8:])
	reflect.ValueOf(&v).Elem().SetComplex(complex(re, im))
	return v, nil
}

// timeCodec keeps the moment and the zone's offset, not its name, nor the
// reading of the monotonic clock.
type timeCodec struct{}

func (timeCodec) Name() string { return timeName }

func (timeCodec) Append(dst []byte, t time.Time) ([]byte, error) { return plan.AppendTime(dst, t) }

func (timeCodec) Decode(src []byte) (t time.Time, err error) {
	err = t.UnmarshalBinary(src)
	return t, err
}

// IsNumber reports whether a codec is the default one of a number.
func IsNumber[V any](c Codec[V]) bool {
	_, ok := c.(numberCodec[V])
	return ok
}
