package firn

import (
	"context"

	"github.com/firncache/firn/internal/load"
)

// CachedValue is the value that the cache holds of the key that a loader loads, for a
// question such as "has it changed since": its ETag, version or time. If the source says
// that it has not, the loader returns [ErrNotModified]: its callers get this value, and
// the cache keeps it for another Options.TTL, or what [SetLoadTTL] says. The load holds
// the value until it ends, so that it is there then, whatever was evicted meanwhile; a
// Set, Delete or Clear wins over it as over any load.
//
// A loader calls it with its own context, or one made from it. It reports false where the
// cache holds none, in a bulk load, and with a context that is no loader's. An expired
// value is held for LoadingOptions.StaleIfError or StaleWhileRevalidate; without these a
// loader is given one by Refresh and RefreshAfter alone. The slice must not be changed.
// The loaders of a Typed use its method of the same name.
func CachedValue(ctx context.Context) (value []byte, ok bool) { return load.CachedValue(ctx, nil) }

// CachedValue is the value that the cache holds of the key that a loader of t loads: see
// the function of the same name. A value that cannot be decoded, or whose tag was
// invalidated, is none. With ErrNotModified the value keeps its tags, whatever SetLoadTags
// says.
func (t *Typed[K, V]) CachedValue(ctx context.Context) (v V, ok bool) {
	_, ok = load.CachedValue(ctx, func(stored []byte) bool {
		payload, ours := t.valid(ctx, stored)
		if !ours {
			return false
		}
		decoded, err := t.codec.Decode(payload)
		v = decoded
		return err == nil
	})
	if !ok {
		var none V
		return none, false
	}
	return v, true
}
