package firn

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/firncache/firn/internal/typed"
)

// SetValue stores a value of any type that has a DefaultCodec, with
// Options.TTL, for GetValue. A value under such a key is apart from
// everything else in the cache. A value behind an interface is stored as what
// it is; nil is an error. Otherwise it is as Typed.Set, at the cost of some
// reflection: a Typed is faster.
func SetValue(c *Cache, key string, v any) error {
	return SetValueWithTTL(c, key, v, c.loads.Jittered(c.ttl))
}

// SetValueWithTTL is SetValue with a time to live of its own, or Forever.
func SetValueWithTTL(c *Cache, key string, v any, ttl time.Duration) error {
	w, err := typed.WriterOf(reflect.TypeOf(v))
	if err != nil {
		return fmt.Errorf("firn: SetValue of %q: %w", key, err)
	}
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if err = c.encodeValueKey(s, key); err != nil {
		return err
	}
	if s.value, err = w.Append(s.value[:0], v); err != nil {
		return fmt.Errorf("firn: SetValue of %q: %w", key, err)
	}
	return c.SetWithTTL(s.key, s.value, ttl)
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
	if err := c.encodeValueKey(s, key); err != nil {
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
		return v, c.mismatch(s.key, s.value)
	}
	if v, err = r.Codec.Decode(payload); err != nil {
		var none T
		return none, c.undecodable(s.key, s.value, r.Codec.Name(), err)
	}
	return v, nil
}

// ValueTTL is how long the value that SetValue stored under key has to live, Forever if
// it never expires, whatever its type. It reports false if there is nothing. It does not
// count as a read.
func ValueTTL(c *Cache, key string) (ttl time.Duration, ok bool) {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if c.encodeValueKey(s, key) != nil {
		return 0, false
	}
	return c.TTL(s.key)
}

// DeleteValue removes the value that SetValue stored under key. That there was nothing is
// no error.
func DeleteValue(c *Cache, key string) error {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if err := c.encodeValueKey(s, key); err != nil {
		return err
	}
	return c.Delete(s.key)
}

var valueScratch = sync.Pool{New: func() any { return new(scratch[string]) }}

func releaseValue(s *scratch[string]) {
	if cap(s.value) <= maxScratch && cap(s.key) <= maxScratch {
		valueScratch.Put(s)
	}
}

// encodeValueKey makes s.key of a key, in the namespace of SetValue.
func (c *Cache) encodeValueKey(s *scratch[string], key string) (err error) {
	space := c.typed.values.Load()
	if space == nil {
		if space, err = c.typed.spaces.Open(&c.store, valuesName); err != nil {
			return fmt.Errorf("firn: %w", err)
		}
		c.typed.values.Store(space)
	}
	s.key = append(space.Generation().Append(s.key[:0]), key...)
	return nil
}

// valuesName is the namespace of SetValue. Those of typed caches begin
// otherwise.
const valuesName = "values"
