package firn

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/typed"
)

// SetValue stores a value of any type that has a DefaultCodec, with
// Options.TTL, for GetValue. A value under such a key is apart from
// everything else in the cache. A value behind an interface is stored as what
// it is; nil is an error. Otherwise it is as Typed.Set, at the cost of some
// reflection: a Typed is faster.
func SetValue(c *Cache, key string, v any) error {
	return SetValueContext(context.Background(), c, key, v)
}

// SetValueContext is SetValue, and waits as Cache.SetContext does.
func SetValueContext(ctx context.Context, c *Cache, key string, v any) error {
	return setValue(ctx, c, key, v, c.loads.Jittered(c.loads.TTL()))
}

// SetValueWithTTL is SetValue with a time to live of its own, or Forever.
func SetValueWithTTL(c *Cache, key string, v any, ttl time.Duration) error {
	return setValue(context.Background(), c, key, v, ttl)
}

func setValue(ctx context.Context, c *Cache, key string, v any, ttl time.Duration) error {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	w, err := typed.WriterOf(reflect.TypeOf(v))
	if err == nil {
		s.value, err = w.Append(s.value[:0], v)
	}
	if err != nil {
		_ = c.writeValue(ctx, s, key, true, func() error { return c.DeleteContext(ctx, s.key) }) // as Typed.Set does
		return fmt.Errorf("firn: SetValue of %q: %w", key, err)
	}
	return c.writeValue(ctx, s, key, false, func() error { return c.SetWithTTLContext(ctx, s.key, s.value, ttl) })
}

// writeValue calls write with s.key made of a key, as Typed.set does or, if it removes, as
// DeleteContext.
func (c *Cache) writeValue(ctx context.Context, s *scratch[string], key string, removes bool, write func() error) error {
	space, err := c.valueSpace()
	if err != nil {
		return err
	}
	in, unknown := space.ToWrite(ctx)
	if unknown != nil {
		if removes && in.Agreed != nil {
			s.valueKey(in, key)
			_ = write()
		}
		return unknown
	}
	for {
		s.valueKey(in, key)
		latest, err := latestIn(ctx, space, in, write())
		if err != nil || latest.Number == in.Number {
			return err
		}
		in = latest
	}
}

// GetValue returns the value that SetValue stored under key, if it is a T. A
// value of another type counts as a mismatch in Stats, and stays: LookupValue
// says what it is.
func GetValue[T any](c *Cache, key string) (T, bool) {
	v, err := LookupValue[T](context.Background(), c, key)
	return v, err == nil
}

// LookupValue is GetValue with a context and with errors: those of Cache.Lookup,
// ErrWrongType, in a message that names both types, and that T has no codec. A
// value of T that was stored by another version of T, or that cannot be read,
// is ErrNotFound, as with Typed.
func LookupValue[T any](ctx context.Context, c *Cache, key string) (v T, err error) {
	r, err := typed.ReaderOf[T]()
	if err != nil {
		return v, fmt.Errorf("firn: GetValue of %q: %w", key, err)
	}
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if err := c.encodeValueKey(ctx, s, key); err != nil {
		return v, err
	}
	if s.value, err = c.Lookup(ctx, s.value[:0], s.key); err != nil {
		return v, err
	}
	name, fingerprint, payload, ok := typed.CutHeader(s.value)
	switch {
	case ok && string(name) != r.Name:
		c.typed.mismatches.Add(1)
		return v, fmt.Errorf("%w: %q holds a %s: want a %s", ErrWrongType, key, name, r.Name)
	case !ok || fingerprint != r.Fingerprint:
		return v, c.mismatch(ctx, s.key, s.value, false)
	}
	if v, err = r.Codec.Decode(payload); err != nil {
		var none T
		return none, c.undecodable(ctx, s.key, s.value, r.Codec.Name(), err, false)
	}
	return v, nil
}

// ValueTTL is how long the value that SetValue stored under key has to live, Forever if
// it never expires, whatever its type. It reports false if there is nothing. It does not
// count as a read.
func ValueTTL(c *Cache, key string) (ttl time.Duration, ok bool) {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if c.encodeValueKey(context.Background(), s, key) != nil {
		return 0, false
	}
	return c.TTL(s.key)
}

// DeleteValue removes the value that SetValue stored under key. That there was nothing is
// no error.
func DeleteValue(c *Cache, key string) error {
	return DeleteValueContext(context.Background(), c, key)
}

// DeleteValueContext is DeleteValue, and waits as Cache.DeleteContext does.
func DeleteValueContext(ctx context.Context, c *Cache, key string) error {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	return c.writeValue(ctx, s, key, true, func() error { return c.DeleteContext(ctx, s.key) })
}

var valueScratch = sync.Pool{New: func() any { return new(scratch[string]) }}

func releaseValue(s *scratch[string]) {
	if cap(s.value) <= maxScratch && cap(s.key) <= maxScratch {
		valueScratch.Put(s)
	}
}

// encodeValueKey makes s.key of a key, in the namespace of SetValue, for a call that reads.
func (c *Cache) encodeValueKey(ctx context.Context, s *scratch[string], key string) error {
	space, err := c.valueSpace()
	if err != nil {
		return err
	}
	in, err := space.ToRead(ctx)
	if err == nil {
		s.valueKey(in, key)
	}
	return err
}

func (s *scratch[K]) valueKey(in *coherence.Generation, key string) {
	s.key = append(in.Append(s.key[:0]), key...)
}

// valueSpace is the namespace of SetValue.
func (c *Cache) valueSpace() (*typed.Namespace, error) {
	if space := c.typed.values.Load(); space != nil {
		return space, nil
	}
	space, err := c.typed.spaces.Open(&c.store, valuesName, "SetValue", typed.Values{})
	if err != nil {
		return nil, fmt.Errorf("firn: %w", err)
	}
	c.typed.values.Store(space)
	return space, nil
}

// valuesName is the namespace of SetValue. Those of typed caches begin
// otherwise.
const valuesName = "values"
