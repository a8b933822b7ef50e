package firn

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/firncache/firn/internal/codec"
)

// SetValue stores a value of any type that has a DefaultCodec, with
// Options.TTL, for GetValue. What is stored under such a key is apart from
// everything else in the cache. A value behind an interface is stored as what
// it is; nil is an error. Otherwise it is as Typed.Set, at the cost of some
// reflection: a Typed is faster.
func SetValue(c *Cache, key string, v any) error {
	return SetValueWithTTL(c, key, v, c.loads.Jittered(c.ttl))
}

// SetValueWithTTL is SetValue with a time to live of its own; 0 means that the
// value never expires.
func SetValueWithTTL(c *Cache, key string, v any, ttl time.Duration) error {
	t, err := dynamicOf(reflect.TypeOf(v))
	if err != nil {
		return fmt.Errorf("firn: SetValue of %q: %w", key, err)
	}
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if err = c.encodeValueKey(s, key); err != nil {
		return err
	}
	if s.value, err = t.encoder.Append(append(s.value[:0], t.head...), v); err != nil {
		return fmt.Errorf("firn: SetValue of %q: encode a %s as %s: %w", key, t.name, t.encoder.Name(), err)
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
	t, err := valueTypeOf[T]()
	if err != nil {
		return v, fmt.Errorf("firn: GetValue of %q: %w", key, err)
	}
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if ok, err := c.findValueKey(ctx, s, key); !ok {
		return v, err
	}
	if s.value, err = c.Lookup(ctx, s.value[:0], s.key); err != nil {
		return v, err
	}
	name, fingerprint, payload, ok := cutHead(s.value)
	switch {
	case ok && string(name) != t.name:
		c.typed.mismatches.Add(1)
		return v, fmt.Errorf("%w: %q holds a %s: want a %s", ErrWrongType, key, name, t.name)
	case !ok || fingerprint != t.fingerprint:
		return v, c.mismatch(s.key, s.value)
	}
	if v, err = t.codec.Decode(payload); err != nil {
		var none T
		return none, c.undecodable(s.key, s.value, t.codec.Name(), err)
	}
	return v, nil
}

// ValueTTL is how long what SetValue stored under key has to live, 0 if it never
// expires, whatever its type. It reports false if there is nothing. It does not
// count as a read.
func ValueTTL(c *Cache, key string) (ttl time.Duration, ok bool) {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	if ok, _ := c.findValueKey(context.Background(), s, key); !ok {
		return 0, false
	}
	return c.TTL(s.key)
}

// DeleteValue removes what SetValue stored under key. That there was nothing is
// no error.
func DeleteValue(c *Cache, key string) error {
	s := valueScratch.Get().(*scratch[string])
	defer releaseValue(s)
	switch ok, err := c.findValueKey(context.Background(), s, key); {
	case ok:
		return c.Delete(s.key)
	case err != ErrNotFound:
		return err
	}
	return nil
}

var valueScratch = sync.Pool{New: func() any { return new(scratch[string]) }}

func releaseValue(s *scratch[string]) {
	if cap(s.value) <= maxScratch && cap(s.key) <= maxScratch {
		valueScratch.Put(s)
	}
}

// findValueKey makes s.key of a key, in the namespace of SetValue. If that is
// empty, which can take a read of the disk to know, it returns the error of a
// Lookup that finds nothing.
func (c *Cache) findValueKey(ctx context.Context, s *scratch[string], key string) (ok bool, err error) {
	space := c.typed.values.Load()
	if space == nil {
		space = c.named(valuesName)
		switch ok, err = space.find(ctx); {
		case err != nil:
			return false, err
		case !ok:
			return false, c.store.MissError(ctx)
		}
		c.typed.values.Store(space)
	}
	valueKey(s, space, key)
	return true, nil
}

// encodeValueKey is findValueKey that begins the namespace.
func (c *Cache) encodeValueKey(s *scratch[string], key string) (err error) {
	space := c.typed.values.Load()
	if space == nil {
		if space, err = c.space(valuesName); err != nil {
			return fmt.Errorf("firn: %w", err)
		}
		c.typed.values.Store(space)
	}
	valueKey(s, space, key)
	return nil
}

// valuesName is the namespace of SetValue. Those of typed caches begin
// otherwise.
const valuesName = "values"

// valueKey makes s.key of a key.
func valueKey(s *scratch[string], space *namespace, key string) {
	if s.uses++; s.uses%keepEvery == 0 {
		space.keep()
	}
	s.key = append(space.current.Load().Append(s.key[:0]), key...)
}

// A value of SetValue is stored behind a head that says what it is:
//
//	+--------+----------------+------+-------------+- - - - -+
//	| format | length of name | name | fingerprint | payload |
//	| 4      | uvarint        |      | 4           |         |
//	+--------+----------------+------+-------------+- - - - -+
//
// The fingerprint is of codec and layout, as in a Typed.
var valueFormat = codec.FingerprintOf("values/1")

// cutHead takes the head off a stored value.
func cutHead(stored []byte) (name []byte, f codec.Fingerprint, payload []byte, ok bool) {
	rest, ok := valueFormat.Cut(stored)
	if !ok {
		return nil, 0, nil, false
	}
	n, skip := binary.Uvarint(rest)
	if skip <= 0 || n > uint64(len(rest)-skip) {
		return nil, 0, nil, false
	}
	name, rest = rest[skip:skip+int(n)], rest[skip+int(n):]
	if len(rest) < codec.FingerprintLen {
		return nil, 0, nil, false
	}
	return name, codec.Fingerprint(binary.LittleEndian.Uint32(rest)), rest[codec.FingerprintLen:], true
}

// valueType is what GetValue knows of a type.
type valueType[T any] struct {
	name        string
	fingerprint codec.Fingerprint
	codec       Codec[T]
}

var valueTypes sync.Map // reflect.Type of T → *valueType[T]

func valueTypeOf[T any]() (*valueType[T], error) {
	t := reflect.TypeFor[T]()
	if known, ok := valueTypes.Load(t); ok {
		return known.(*valueType[T]), nil
	}
	c, err := DefaultCodec[T]()
	if err != nil {
		return nil, err
	}
	known := &valueType[T]{codec.TypeName(t), codec.FingerprintOf(c.Name(), codec.Layout(t)), c}
	valueTypes.Store(t, known)
	return known, nil
}
