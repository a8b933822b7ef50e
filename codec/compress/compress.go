// Package compress compresses the bytes of another codec, with S2 or Zstandard,
// by github.com/klauspost/compress.
package compress

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/firncache/firn"
)

// Method is a way to compress.
type Method uint8

// The methods.
const (
	S2   Method = iota // about a gigabyte a second and core: Snappy's successor
	Zstd               // smaller and slower
)

// Options choose the values to compress. The zero Options are usable.
type Options struct {
	// Method is how. Values that were written with another are read as well.
	// Default: S2.
	Method Method

	// MinBytes is the size from which on values are compressed. Default: 512.
	// A value that does not shrink is stored as it is.
	MinBytes int

	// MaxBytes is the size up to which values are compressed. It bounds what
	// Decode allocates for bytes that are not its own. Default: 64 MiB.
	MaxBytes int
}

// New makes a codec around another. Its bytes are one more than the inner
// codec's, if they are not compressed.
func New[V any](inner firn.Codec[V], opts Options) (firn.Codec[V], error) {
	if opts.MinBytes == 0 {
		opts.MinBytes = 512
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 64 << 20
	}
	switch {
	case inner == nil:
		return nil, errors.New("compress: no inner codec")
	case opts.Method > Zstd:
		return nil, fmt.Errorf("compress: Options.Method is %d: want S2 or Zstd", opts.Method)
	case opts.MinBytes < 0 || opts.MaxBytes < opts.MinBytes:
		return nil, fmt.Errorf("compress: Options.MinBytes is %d and MaxBytes %d: want 0 < MinBytes ≤ MaxBytes", opts.MinBytes, opts.MaxBytes)
	}
	c := &codec[V]{inner: inner, opts: opts}
	var err error
	if c.encoder, err = zstd.NewWriter(nil); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	memory := uint64(max(opts.MaxBytes, 2*zstd.MinWindowSize)) // short values have the least window
	if c.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(memory)); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	c.buffers.New = func() any { return new([]byte) }
	return c, nil
}

type codec[V any] struct {
	inner   firn.Codec[V]
	opts    Options
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	buffers sync.Pool // of *[]byte
}

// The first byte says how the others are compressed.
const (
	plain = iota
	withS2
	withZstd
)

func (c *codec[V]) Name() string { return c.inner.Name() + "+compress/1" }

func (c *codec[V]) Append(dst []byte, v V) ([]byte, error) {
	start := len(dst)
	dst, err := c.inner.Append(append(dst, plain), v)
	if err != nil {
		return dst, err
	}
	raw := dst[start+1:]
	if len(raw) < c.opts.MinBytes || len(raw) > c.opts.MaxBytes {
		return dst, nil
	}
	buf := c.buffers.Get().(*[]byte)
	defer c.release(buf)
	method := byte(withS2)
	if c.opts.Method == Zstd {
		method = withZstd
		*buf = c.encoder.EncodeAll(raw, (*buf)[:0])
	} else {
		*buf = s2.Encode((*buf)[:cap(*buf)], raw)
	}
	if len(*buf) < len(raw) {
		dst = append(append(dst[:start], method), *buf...)
	}
	return dst, nil
}

func (c *codec[V]) Decode(src []byte) (v V, err error) {
	if len(src) == 0 {
		return v, errors.New("compress: no bytes")
	}
	method, src := src[0], src[1:]
	if method == plain {
		return c.inner.Decode(src)
	}
	buf := c.buffers.Get().(*[]byte)
	defer c.release(buf)
	switch method {
	case withS2:
		*buf, err = c.s2(*buf, src)
	case withZstd:
		if *buf, err = c.decoder.DecodeAll(src, (*buf)[:0]); err == nil {
			err = c.fits(len(*buf))
		}
	default:
		err = fmt.Errorf("compress: method %d is not known", method)
	}
	if err != nil {
		return v, err
	}
	return c.inner.Decode(*buf)
}

func (c *codec[V]) s2(buf, src []byte) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err == nil {
		err = c.fits(n)
	}
	if err != nil {
		return buf, err
	}
	return s2.Decode(buf[:cap(buf)], src)
}

func (c *codec[V]) fits(n int) error {
	if n > c.opts.MaxBytes {
		return fmt.Errorf("compress: a value of %d bytes: want at most %d", n, c.opts.MaxBytes)
	}
	return nil
}

// release keeps a buffer for later calls, unless it is large.
func (c *codec[V]) release(buf *[]byte) {
	if cap(*buf) <= maxKept {
		c.buffers.Put(buf)
	}
}

const maxKept = 1 << 20
