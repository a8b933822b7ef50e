package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/firncache/firn"
)

// Freecache has the methods of freecache.Cache. Clear returns an error, unlike there.
type Freecache struct{ *firn.Cache }

// Set stores a value for as many seconds; for 0 and less it never expires.
func (c Freecache) Set(key, value []byte, expireSeconds int) error {
	ttl := firn.Forever
	if expireSeconds > 0 {
		ttl = time.Duration(expireSeconds) * time.Second
	}
	if err := c.SetWithTTL(key, value, ttl); err != nil {
		return errors.Join(err, c.Delete(key))
	}
	return nil
}

// Get returns a copy of the value, or firn.ErrNotFound.
func (c Freecache) Get(key []byte) ([]byte, error) { return c.GetWithBuf(key, nil) }

// GetWithBuf is Get into the memory of buf, if the value fits.
func (c Freecache) GetWithBuf(key, buf []byte) ([]byte, error) {
	return c.Lookup(context.Background(), buf[:0], key)
}

// TTL returns the seconds that the value has to live, 0 if it never expires, or
// firn.ErrNotFound.
func (c Freecache) TTL(key []byte) (timeLeft uint32, err error) {
	ttl, ok := c.Cache.TTL(key)
	switch {
	case !ok:
		return 0, firn.ErrNotFound
	case ttl == firn.Forever:
		return 0, nil
	}
	return uint32((ttl + time.Second - 1) / time.Second), nil
}

// Del removes a value and tells whether there was one; of two calls at once both may
// find it.
func (c Freecache) Del(key []byte) (affected bool) {
	return c.Has(key) && c.Delete(key) == nil
}

// EntryCount is the number of entries, expired ones included.
func (c Freecache) EntryCount() int64 { return int64(c.Len()) }
