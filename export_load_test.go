package firn

// HoldLoads locks the list of loads until the function that it returns is called.
func (c *Cache) HoldLoads() (release func()) { return c.loads.Hold() }

// WriteUndetached makes the load of key one whose key was written, as a writer does
// that has not come to forget it yet.
func (c *Cache) WriteUndetached(key []byte) { c.loads.VoidWatch(key) }
