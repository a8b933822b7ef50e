package firn

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ram"
)

// mismatch counts a value that was written as something else, and deletes it.
func (c *Cache) mismatch(key, stored []byte) error {
	c.typed.mismatches.Add(1)
	return errors.Join(errMismatch, c.drop(key, stored))
}

// undecodable counts bytes that the codec did not accept, and deletes them.
func (c *Cache) undecodable(key, stored []byte, codec string, reason error) error {
	c.typed.decodeErrors.Add(1)
	return errors.Join(fmt.Errorf("%w: stored bytes are not %s: %w", ErrNotFound, codec, reason), c.drop(key, stored))
}

// drop deletes key, unless it was written since stored was read: what somebody
// has set meanwhile stays.
func (c *Cache) drop(key, stored []byte) error {
	f := &flight{key: key}
	c.ram.Watch(&f.watch, key) // and then look: a write is either seen or noticed
	defer c.ram.Unwatch(&f.watch)
	if now, ok := c.ram.PeekHashed(f.watch.Hash(), nil, key); ok && !bytes.Equal(now, stored) {
		return nil
	}
	var left ram.Left
	err := c.deleteLoaded(f, &left)
	left.Report()
	return err
}

var errMismatch = fmt.Errorf("%w: stored with another codec, version or type", ErrNotFound)
