package remote

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// A value is read in pieces: a long answer would hold up the PONG behind it, and what lies under
// our names may be of any length.
const (
	firstPiece      = 64 << 10
	firstPieceMulti = 16 << 10 // of each key of a batch
	nextPiece       = 256 << 10
)

// Read reads a key. If there is a copy of version q.Have, 32 bytes are read first.
func (t *sharedTier) Read(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	if q.Have != 0 {
		return t.check(ctx, dst, q)
	}
	return t.readKey(ctx, dst, q)
}

func (t *sharedTier) readKey(ctx context.Context, dst []byte, q shared.Query) (f shared.Found, err error) {
	err = t.cluster.Ask(ctx, t.names.Entry(q.Key), func(w *wire.Wire, slot int) error {
		f, err = t.readFrom(ctx, w, slot, dst, q)
		return err
	})
	return f, err
}

func (t *sharedTier) readFrom(ctx context.Context, w *wire.Wire, slot int, dst []byte, q shared.Query) (shared.Found, error) {
	r := reading{t: t, w: w, name: t.names.Entry(q.Key), stamp: t.cluster.Stamp(w, slot)}
	limit := firstPiece
	if q.Have != 0 {
		limit = entry.Len
		leave, err := w.EnterCheck(ctx)
		if err != nil {
			return shared.Found{Value: dst}, err
		}
		defer leave()
	}
	b, err := r.piece(ctx, 0, limit)
	if f, done := r.unchanged(dst, q, b); err == nil && done {
		return f, nil
	}
	if err == nil && q.Have != 0 && len(b) == entry.Len {
		r.stamp = t.cluster.Stamp(w, slot)
		b, err = r.piece(ctx, 0, firstPiece)
	}
	if err != nil {
		return r.missOr(dst, err)
	}
	return r.found(ctx, dst, b, firstPiece)
}

// reading is one key that is being read.
type reading struct {
	t     *sharedTier
	w     *wire.Wire
	name  string
	stamp shared.Stamp // of the epoch from before the request
}

func (r *reading) piece(ctx context.Context, from, n int) ([]byte, error) {
	r.t.count.reads.Add(1)
	result := r.w.Do(ctx, command.GetRange(r.name, from, n))
	return r.t.answer(&result)
}

// answer is the bytes of an answer, which are not changed.
func (t *sharedTier) answer(result *rueidis.RedisResult) ([]byte, error) {
	b, err := result.AsBytes()
	t.count.bytesRead.Add(uint64(len(b)))
	return b, err
}

// unchanged is the answer to a question with Have, if the version is still that.
func (r *reading) unchanged(dst []byte, q shared.Query, b []byte) (shared.Found, bool) {
	h, ok := entry.Parse(b)
	if q.Have == 0 || !ok || h.Version != q.Have {
		return shared.Found{Value: dst}, false
	}
	return shared.Found{Value: dst, Version: h.Version, Stamp: r.stamp, Deadline: r.t.storeDeadline(h), Unchanged: true}, true
}

// missOr is a miss for what is under our name and of another type, and else the error.
func (r *reading) missOr(dst []byte, err error) (shared.Found, error) {
	if command.IsError(err, "WRONGTYPE") {
		r.t.count.foreign.Add(1)
		err = shared.ErrNotFound
	}
	return shared.Found{Value: dst}, r.w.ServerError(err)
}

// found is what the first bytes of a key say, and the rest of them, which is read if there is
// more than limit. What cannot be a value is a miss.
func (r *reading) found(ctx context.Context, dst, b []byte, limit int) (shared.Found, error) {
	f := shared.Found{Value: dst, Stamp: r.stamp}
	if len(b) == 0 {
		return f, shared.ErrNotFound
	}
	h, ok := entry.Parse(b)
	if !ok {
		r.t.count.foreign.Add(1)
		return f, shared.ErrNotFound
	}
	f.Version = h.Version
	if h.Valueless() {
		return f, shared.ErrNotFound
	}
	if int64(h.Length) > r.t.longest() {
		r.t.count.tooLarge.Add(1)
		return f, shared.ErrNotFound
	}
	if len(b) == limit && int(h.Length)+entry.Len > limit {
		var err error
		if b, err = r.rest(ctx, b, h); err != nil {
			return shared.Found{Value: dst}, err
		}
	}
	return r.t.open(f, b)
}

// open is the value of a whole entry, appended to f.Value. What is no entry is a miss.
func (t *sharedTier) open(f shared.Found, b []byte) (shared.Found, error) {
	h, value, ok := entry.Open(b)
	f.Version = h.Version // of a long one that was written while it was read, another than before
	err := errForeign
	switch {
	case ok && h.Valueless():
		return f, shared.ErrNotFound
	case ok:
		f.Value, err = t.unpack(f.Value, h, value)
	}
	if err == nil {
		f.Deadline = t.storeDeadline(h)
		return f, nil
	}
	if errors.Is(err, shared.ErrTooLarge) {
		t.count.tooLarge.Add(1)
	} else {
		t.count.foreign.Add(1)
	}
	return f, shared.ErrNotFound
}

var errForeign = errors.New("not what a cache has written")

// longest is how long a value may lie on the server. Compression is used where it saves
// something.
func (t *sharedTier) longest() int64 { return int64(t.o.MaxValueBytes) }

// rest reads what is behind the first bytes of a long entry. The pieces are of one version if
// that is the entry's afterwards, too; otherwise it was written meanwhile, and is read again by
// the caller's next question: a miss would be wrong, and so is a mixture.
func (r *reading) rest(ctx context.Context, first []byte, h entry.Header) ([]byte, error) {
	release, err := r.t.enterLarge(ctx, r.w, int(h.Length))
	if err != nil {
		return nil, err
	}
	defer release()
	for range maxTorn {
		whole := make([]byte, 0, entry.Len+int(h.Length))
		whole = append(whole, first...)
		for len(whole) < cap(whole) {
			b, err := r.piece(ctx, len(whole), min(nextPiece, cap(whole)-len(whole)))
			if err != nil {
				return nil, r.w.ServerError(err)
			}
			if len(b) == 0 {
				break
			}
			whole = append(whole, b...)
		}
		first, err = r.piece(ctx, 0, entry.Len)
		if err != nil {
			return nil, r.w.ServerError(err)
		}
		again, ok := entry.Parse(first)
		if !ok || len(first) == 0 || int64(again.Length) > r.t.longest() {
			return nil, shared.ErrNotFound
		}
		if again.Version == h.Version {
			return whole, nil
		}
		h = again
	}
	return nil, r.w.Unavailable(errTorn)
}

// maxTorn is how often a long entry is read that is written all the time.
const maxTorn = 8
