package firn

import "github.com/firncache/firn/internal/ram"

// keepAbsence remembers for LoadingOptions.NegativeTTL that a key has no value. It
// is a record like others, without a value, that the RAM tier hides: its
// deadline is negative. So it shares the budget, is evicted when nobody asks for
// it, and ends with any write of its key. It does not go to the SSD.
func (c *Cache) keepAbsence(f *flight, left *ram.Left) error {
	return c.store.SetIf(&f.watch, f.key, nil, -(c.store.Now() + c.loading.negativeTTL), left)
}
