package firn

import "github.com/firncache/firn/internal/typed"

// CheckInvariants compares everything inside the cache with everything else;
// nobody may use it meanwhile.
func (c *Cache) CheckInvariants() error { return c.store.RAM().Check() }

// Sweep takes expired entries out now.
func (c *Cache) Sweep() { c.store.RAM().Sweep() }

// RecordPrefix begins the keys of the records of namespaces.
const RecordPrefix = typed.RecordPrefix

// Watched reports whether any key is watched for writes.
func (c *Cache) Watched() bool { return c.store.RAM().Watched() }
