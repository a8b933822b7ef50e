package firn

// HoldLoads locks the list of loads until the function that it returns is called.
func (c *Cache) HoldLoads() (release func()) {
	c.loads.mu.Lock()
	return c.loads.mu.Unlock
}

// WriteUndetached makes the load of key superseded, as a writer does that has not
// come to detach it yet.
func (c *Cache) WriteUndetached(key []byte) {
	defer c.HoldLoads()()
	c.loads.byKey[string(key)].watch.Void()
}
