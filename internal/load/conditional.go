package load

import (
	"bytes"
	"context"
	"errors"

	"github.com/firncache/firn/internal/local"
)

// ErrNotModified is a loader's answer that the value of CachedValue holds still.
var ErrNotModified = errors.New("firn: not modified")

// errNothingToKeep is no ErrNotModified: a loader that hands on the error of a load of its
// own would say it of its own value.
var errNothingToKeep = errors.New("firn: a loader returned ErrNotModified and was given no value: want that only where CachedValue found one, in a load of one key")

// CachedValue is firn.CachedValue. A value that accept refuses is none; as what it returns, ErrNotModified
// stores it.
func CachedValue(ctx context.Context, accept func(value []byte) (stored []byte, ok bool)) (value []byte, ok bool) {
	d := directivesOf(ctx)
	if d == nil || d.call.loader.one == nil {
		return nil, false
	}
	if value = d.kept(); value == nil {
		f := d.call.flights[0]
		v, _, state := d.of.store.PeekTiers(ctx, f.hash, []byte{}, f.key)
		if state != local.Fresh && state != local.Stale {
			return nil, false
		}
		value = v
	}
	if accept != nil {
		if value, ok = accept(value); !ok {
			return nil, false
		}
	}
	value = d.keep(value)
	if accept == nil && d.call.loader.gives { // the caller of a load that is not modified gets it
		value = bytes.Clone(value)
	}
	return value, true
}

// kept is the value that the loader was given, nil if none was. The load keeps it until
// its end, whatever becomes of the cache's.
func (d *directives) kept() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cached
}

// keep makes a value the one that the loader was given, unless there is one.
func (d *directives) keep(value []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == nil {
		d.cached = value
	}
	return d.cached
}

// notModified is the result of a loader that returned ErrNotModified.
func (call *loaderCall) notModified() (values [][]byte, err error) {
	v := call.directives.kept()
	if v == nil {
		return nil, errNothingToKeep
	}
	call.of.count.notModified.Add(1)
	call.oneValue[0] = v
	return call.oneValue[:], nil
}
