package adapters

import (
	"context"
	"errors"

	"github.com/firncache/firn"
)

// Bigcache has the methods of bigcache.BigCache. Len and Close are firn's own; the life
// window is firn.Options.TTL.
type Bigcache struct{ *firn.Cache }

// Get returns a copy of the value, or firn.ErrNotFound.
func (c Bigcache) Get(key string) ([]byte, error) {
	return c.Lookup(context.Background(), nil, []byte(key))
}

// Set stores a value.
func (c Bigcache) Set(key string, entry []byte) error {
	if err := c.Cache.Set([]byte(key), entry); err != nil {
		return errors.Join(err, c.Cache.Delete([]byte(key)))
	}
	return nil
}

// Delete removes a value. Without one, it is firn.ErrNotFound; of two calls at once
// both may find it.
func (c Bigcache) Delete(key string) error {
	if !c.Has([]byte(key)) {
		return firn.ErrNotFound
	}
	return c.Cache.Delete([]byte(key))
}

// Reset removes all values.
func (c Bigcache) Reset() error { return c.Clear(context.Background()) }
