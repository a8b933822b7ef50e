package firn

import (
	"errors"
	"fmt"
)

// mismatch counts a value that was written as something else, and deletes it.
func (c *Cache) mismatch(key, stored []byte) error {
	c.typed.mismatches.Add(1)
	return errors.Join(errMismatch, c.store.DeleteIfEqual(key, stored))
}

// undecodable counts bytes that the codec did not accept, and deletes them.
func (c *Cache) undecodable(key, stored []byte, codec string, reason error) error {
	c.typed.decodeErrors.Add(1)
	return errors.Join(fmt.Errorf("%w: stored bytes are not %s: %w", ErrNotFound, codec, reason), c.store.DeleteIfEqual(key, stored))
}

var errMismatch = fmt.Errorf("%w: stored with another codec, version or type", ErrNotFound)
