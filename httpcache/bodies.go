package httpcache

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/firncache/firn"
)

// maxInline is the longest body that is stored with its head. Longer ones are in chunks.
const maxInline = 8 << 10

// maxChunk is how long a chunk is, at most.
const maxChunk = 256 << 10

// errGone says that a chunk of a body is not there any more.
var errGone = errors.New("httpcache: a part of a stored body was evicted")

// bodies are the chunks of stored bodies, as entries of the cache. Their keys have the id of
// the one who wrote them, so that nothing of two bodies can be mixed.
type bodies struct {
	cache *firn.Cache
	chunk int64 // bytes of each chunk but the last
}

// chunkBytes is how long chunks are in a cache of a size: short enough for many of them.
func chunkBytes(ram int64) int64 { return min(max(ram/128, 4<<10), maxChunk) }

func chunkKey(id bodyID, n int64) []byte {
	const prefix = "httpcache\x00"
	b := make([]byte, 0, len(prefix)+len(id)+8)
	return binary.BigEndian.AppendUint64(append(append(b, prefix...), id[:]...), uint64(n))
}

func (b *bodies) set(id bodyID, n int64, data []byte, ttl time.Duration) error {
	return b.cache.SetWithTTL(chunkKey(id, n), data, ttl)
}

// touch gives the chunks of a body another time to live.
func (b *bodies) touch(ctx context.Context, h *head, ttl time.Duration) error {
	if h.chunk == 0 {
		return nil
	}
	for n := range (h.size + h.chunk - 1) / h.chunk {
		if ok, err := b.cache.Touch(ctx, chunkKey(h.id, n), ttl); err != nil || !ok {
			return errors.Join(errGone, err)
		}
	}
	return nil
}

// drop removes the first chunks of a body.
func (b *bodies) drop(id bodyID, count int64) {
	for n := range count {
		_ = b.cache.Delete(chunkKey(id, n))
	}
}

// body yields the bytes of an answer.
type body interface {
	// next returns the next bytes, which are lent until it is called again. At the end it
	// returns io.EOF; and errGone where some were evicted, which it can be called after no more.
	next(ctx context.Context) ([]byte, error)

	// rest is what next has not returned yet, its length -1 if that is not known.
	rest() span

	// close ends it. Its memory is used again if nothing that next returned is in use any more.
	close(unused bool)
}

// chunkBuffers have the bytes of chunks on their way to clients.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// storedBody is a part of a body that is stored as a whole.
type storedBody struct {
	bodies   *bodies
	head     *head
	off, end int64
	buf      *[]byte
}

func (b *storedBody) rest() span { return span{b.off, b.end - b.off} }

func (b *storedBody) next(ctx context.Context) ([]byte, error) {
	if b.off >= b.end {
		return nil, io.EOF
	}
	if b.head.chunk == 0 {
		data := b.head.inline[b.off:b.end]
		b.off = b.end
		return data, nil
	}
	if b.buf == nil {
		b.buf = chunkBuffers.Get().(*[]byte)
	}
	data, err := b.bodies.read(ctx, b.buf, b.head.id, b.head.chunk, b.off)
	if err != nil {
		return nil, err
	}
	data = data[:min(int64(len(data)), b.end-b.off)]
	b.off += int64(len(data))
	return data, nil
}

func (b *storedBody) close(unused bool) {
	if b.buf != nil && unused {
		chunkBuffers.Put(b.buf)
	}
	b.buf, b.end = nil, b.off
}

// read returns what the chunk at a position has from there on, in buf.
func (b *bodies) read(ctx context.Context, buf *[]byte, id bodyID, chunk, off int64) ([]byte, error) {
	data, err := b.cache.Lookup(ctx, (*buf)[:0], chunkKey(id, off/chunk))
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errGone
	}
	*buf = data
	if off %= chunk; off >= int64(len(data)) {
		return nil, errGone
	}
	return data[off:], nil
}
