package firn

import "runtime"

// CheckInvariants compares everything inside the cache with everything else;
// nobody may use it meanwhile.
func (c *Cache) CheckInvariants() error { return c.store.RAM().Check() }

// Sweep takes expired entries out now.
func (c *Cache) Sweep() { c.store.RAM().Sweep() }

// Namespaces is how many are in use.
func (c *Cache) Namespaces() int { return c.typed.spaces.Len() }

// AwaitNamespaces collects garbage until so many namespaces are in use.
func (c *Cache) AwaitNamespaces(n int) {
	for c.Namespaces() > n {
		runtime.GC()
		runtime.Gosched()
	}
}

// Watched reports whether any key is watched for writes.
func (c *Cache) Watched() bool { return c.store.RAM().Watched() }
