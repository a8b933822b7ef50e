package firn

// DeleteMulti removes the values of many keys, as many as it can, and returns the first
// error. That there were none is no error. It costs less than single Deletes: the waits for
// the keys' memory overlap.
func (c *Cache) DeleteMulti(keys [][]byte) error { return c.store.DeleteMulti(keys) }
