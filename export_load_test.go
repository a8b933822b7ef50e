package firn

// HoldLoads locks the list of loads until the function that it returns is called.
func (c *Cache) HoldLoads() (release func()) { return c.loads.Hold() }

// WriteUndetached makes the load of key one whose key was written, as a writer does
// that has not come to forget it yet.
func (c *Cache) WriteUndetached(key []byte) { c.loads.VoidWatch(key) }

// HoldLoadShard locks one shard of the list of loads until release is called;
// LoadShard is that of a key.
func (c *Cache) HoldLoadShard(n int) (release func()) { return c.loads.HoldShard(n) }
func (c *Cache) LoadShard(key []byte) int             { return c.loads.ShardOf(key) }
