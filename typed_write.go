package firn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/typed"
)

// All processes agree in a shared tier on the number that the keys of a namespace begin with. A
// write looks at it once more when it is over: if another process has cleared the namespace
// before the write began, the write is made again, with the new number.

// Set stores a value, with TypedOptions.TTL, as Cache.Set. It also fails with the codec's error:
// the value that was there before is gone then.
func (t *Typed[K, V]) Set(key K, v V) error {
	return t.set(context.Background(), key, v, t.cfg.loads.Jittered(t.cfg.loads.TTL()), nil)
}

// SetWithTTL is Set with a time to live of its own, as Cache.SetWithTTL.
func (t *Typed[K, V]) SetWithTTL(key K, v V, ttl time.Duration) error {
	return t.set(context.Background(), key, v, t.cfg.loads.Given(ttl), nil)
}

// SetWith is Set with a context, as Cache.SetWith, and with options. A value whose tag is
// invalidated between the read of its source and SetWith is stored as a valid one: where that may
// be, load it with GetOrLoad.
func (t *Typed[K, V]) SetWith(ctx context.Context, key K, v V, o SetOptions) error {
	if err := typed.CheckTags(o.Tags); err != nil {
		return fmt.Errorf("firn: SetOptions.Tags: %w", err)
	}
	return t.set(ctx, key, v, o.ttl(t.cfg.loads), o.Tags)
}

// set stores a value with tags.
func (t *Typed[K, V]) set(ctx context.Context, key K, v V, ttl time.Duration, tags []string) (err error) {
	s := t.acquire()
	s.k, s.value = key, s.value[:0]
	if len(tags) > 0 { // what they note is of before all else
		t.cfg.c.useTags()
		s.value, err = t.cfg.c.typed.tags.AppendNow(ctx, s.value, t.space.Label, tags)
	}
	if err != nil {
		t.dropApart(s)
	} else {
		err = t.encodeKeyToWrite(ctx, s)
	}
	if err == nil {
		if s.value, err = t.encode(s.value, v); err != nil {
			_ = t.cfg.c.store.DeleteContext(ctx, s.key) // a Set that fails leaves no older value
		}
	}
	for again := err == nil; again; {
		err = t.setBytes(ctx, s, ttl)
		again, err = t.writeAgain(ctx, s, err)
	}
	if err == nil {
		t.space.Counters.Set(1)
	}
	t.release(s)
	return err
}

// setBytes is Cache.Set of s.key and s.value. A hot value becomes the new one.
func (t *Typed[K, V]) setBytes(ctx context.Context, s *scratch[K], ttl time.Duration) error {
	own, isHot := t.hotKey(s.k)
	if !isHot {
		return t.cfg.c.set(ctx, t.cfg.loads, s.key, s.value, ttl)
	}
	deadline, err := t.cfg.loads.DeadlineIn(ttl)
	if err != nil {
		return err
	}
	fill := t.cfg.c.typed.fronts.BeginFill(s.key)
	if err = t.cfg.c.store.SetContext(ctx, t.cfg.c.store.Prefetch(s.key), s.key, s.value, deadline); err == nil {
		t.fillSet(s, own, fill, deadline)
	}
	return err
}

// Delete removes the value of key. That there was none is no error.
func (t *Typed[K, V]) Delete(key K) error { return t.delete(context.Background(), key) }

// delete is Delete with a context.
func (t *Typed[K, V]) delete(ctx context.Context, key K) error {
	s := t.acquire()
	s.k = key
	err := t.encodeKeyToWrite(ctx, s)
	if err != nil {
		t.deleteLastKnown(ctx, s, err)
	}
	for again := err == nil; again; {
		err = t.cfg.c.store.DeleteContext(ctx, s.key)
		again, err = t.writeAgain(ctx, s, err)
	}
	if err == nil {
		t.space.Counters.Delete(1)
	}
	t.release(s)
	return err
}

// deleteLastKnown deletes s.key, as it was made though the number of the namespace could not be
// asked for: if that is the last one that was known, a removal which cannot be sent is kept.
func (t *Typed[K, V]) deleteLastKnown(ctx context.Context, s *scratch[K], err error) {
	if errors.Is(err, local.ErrSharedUnavailable) && s.in.Agreed != nil {
		_ = t.cfg.c.store.DeleteContext(ctx, s.key)
	}
}

// Clear removes every entry of the namespace, those of other typed caches of that name and type of
// keys included, in the time of one Set. No read finds them from then on, nor after a restart;
// their memory is used again as room is needed, and until then Cache.Len and Cache.All count them.
// With a shared tier another process may find one of them within the bound.
func (t *Typed[K, V]) Clear(ctx context.Context) error {
	if t.closed.Load() {
		return errTypedClosed
	}
	return t.space.Clear(ctx)
}

// encodeKeyToWrite makes s.key of s.k, for a call that writes.
func (t *Typed[K, V]) encodeKeyToWrite(ctx context.Context, s *scratch[K]) error {
	generation, unknown := t.space.ToWrite(ctx)
	if unknown != nil {
		t.dropApart(s)
	}
	if err := t.encodeKeyIn(s, generation); err != nil {
		return err
	}
	return unknown
}

// multiToWrite is the generation for a call that writes some keys, as Namespace.ToWrite.
func (t *Typed[K, V]) multiToWrite(ctx context.Context, keys []K) (in *coherence.Generation, unknown error) {
	if in, unknown = t.space.ToWrite(ctx); unknown != nil {
		s := t.acquire()
		defer t.release(s)
		for _, s.k = range keys {
			t.dropApart(s)
		}
	}
	return in, unknown
}

// dropApart drops what was loaded of s.k while the number of the namespace was not known, for a write
// that fails as it is not known still: such a write drops what is here.
func (t *Typed[K, V]) dropApart(s *scratch[K]) {
	if apart := t.space.Apart(); apart != nil && t.encodeKeyIn(s, apart) == nil {
		t.cfg.c.store.Fleet.Drop(s.key)
	}
}

// writeAgain reports whether a write of s.key, which returned err, is to be made again,
// under the key that it makes: the namespace had been cleared by then.
func (t *Typed[K, V]) writeAgain(ctx context.Context, s *scratch[K], err error) (again bool, _ error) {
	if again, err = t.writeMultiAgain(ctx, &s.in, err); again {
		err = t.encodeKeyIn(s, s.in)
	}
	return again && err == nil, err
}

// SetMulti stores values[i] under keys[i], with TypedOptions.TTL, as Cache.SetMulti. One that
// cannot be encoded is an error, and the others are stored.
func (t *Typed[K, V]) SetMulti(ctx context.Context, keys []K, values []V) error {
	if len(keys) != len(values) {
		return fmt.Errorf("firn: SetMulti: %d values for %d keys: want as many", len(values), len(keys))
	}
	in, err := t.multiToWrite(ctx, keys)
	if err != nil {
		return err
	}
	return t.writeMulti(ctx, in, keys, values, func(m *multiScratch) (err error) {
		if err = t.cfg.c.setMulti(ctx, t.cfg.loads, m.keys, m.values); err == nil {
			t.space.Counters.Set(len(m.keys))
		}
		return err
	})
}

// DeleteMulti removes the values of keys, as Cache.DeleteMulti. A key that cannot be encoded is an
// error.
func (t *Typed[K, V]) DeleteMulti(ctx context.Context, keys ...K) error {
	if len(keys) == 1 {
		return t.delete(ctx, keys[0])
	}
	in, unknown := t.multiToWrite(ctx, keys)
	if unknown != nil && in.Agreed == nil {
		return unknown
	}
	return t.writeMulti(ctx, in, keys, nil, func(m *multiScratch) (err error) {
		if err = t.cfg.c.store.DeleteMultiContext(ctx, m.keys); err == nil {
			err = unknown // what could be removed is, or will be
		}
		if err == nil {
			t.space.Counters.Delete(len(m.keys))
		}
		return err
	})
}

// writeMulti encodes keys, and values if there are any, in parts that write is called with, and
// returns the first error.
func (t *Typed[K, V]) writeMulti(ctx context.Context, in *coherence.Generation, keys []K, values []V, write func(m *multiScratch) error) (first error) {
	var m multiScratch
	for len(keys) > 0 {
		n, err := t.encodeMulti(ctx, &m, in, keys, values)
		if first == nil {
			first = err
		}
		again, err := t.writeMultiAgain(ctx, &in, write(&m))
		if again {
			continue
		}
		if first == nil {
			first = err
		}
		if keys = keys[n:]; values != nil {
			values = values[n:]
		}
	}
	return first
}

// writeMultiAgain is writeAgain of a part of a batch, in the generation that it leaves in in.
func (t *Typed[K, V]) writeMultiAgain(ctx context.Context, in **coherence.Generation, err error) (again bool, _ error) {
	latest, err := latestIn(ctx, t.space, *in, err)
	if err != nil || latest.Number == (*in).Number {
		return false, err
	}
	*in = latest
	return true, nil
}

// latestIn is Latest of a namespace after a write, which returned err.
func latestIn(ctx context.Context, space *typed.Namespace, in *coherence.Generation, err error) (*coherence.Generation, error) {
	if err != nil {
		return in, err
	}
	return space.Latest(ctx, in)
}

// multiWindow is how many entries of a batch are encoded at once, unless they have
// maxScratch bytes before.
const multiWindow = 128

// multiScratch is the heap memory of a SetMulti or DeleteMulti.
type multiScratch struct {
	bytes        []byte
	ends         []int // of keys and values in bytes, in turn
	keys, values [][]byte
}

// encodeMulti makes the bytes of the first n keys, in a generation, and of values if there are any, but
// for entries of which one cannot be encoded: a key without its value is deleted. It returns the first error.
func (t *Typed[K, V]) encodeMulti(ctx context.Context, m *multiScratch, in *coherence.Generation, keys []K, values []V) (n int, first error) {
	s := t.acquire()
	defer t.release(s)
	m.bytes, m.ends, m.keys, m.values = m.bytes[:0], m.ends[:0], m.keys[:0], m.values[:0]
	for ; n < min(len(keys), multiWindow) && len(m.bytes) < maxScratch; n++ {
		s.k, s.value = keys[n], s.value[:0]
		err := t.encodeKeyIn(s, in)
		if err == nil && values != nil {
			if s.value, err = t.encode(s.value[:0], values[n]); err != nil {
				_ = t.cfg.c.store.DeleteContext(ctx, s.key) // as Set does
			}
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		m.bytes = append(m.bytes, s.key...)
		m.ends = append(m.ends, len(m.bytes))
		m.bytes = append(m.bytes, s.value...)
		m.ends = append(m.ends, len(m.bytes))
	}
	m.slice()
	return n, first
}

// slice makes keys and values of the bytes, when all are there.
func (m *multiScratch) slice() {
	from := 0
	for i := 0; i < len(m.ends); i += 2 {
		key, value := m.ends[i], m.ends[i+1]
		m.keys = append(m.keys, m.bytes[from:key:key])
		m.values = append(m.values, m.bytes[key:value:value])
		from = value
	}
}
