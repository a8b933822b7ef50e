package sim

// lru evicts the key that was used longest ago.
type lru struct {
	*lists
	capacity int
}

// NewLRU is the baseline that every gap is measured from.
func NewLRU(keys, capacity int) Cache { return NewSizedLRU(keys, capacity, nil) }

// NewSizedLRU is LRU with a capacity in bytes.
func NewSizedLRU(keys, capacity int, sizes []int32) Cache {
	c := &lru{newLists(keys, 1), capacity}
	c.sizes = sizes
	return c
}

func (c *lru) Access(key int32) bool {
	hit := c.where[key] != 0
	for !hit && c.len[1]+c.size(key) > c.capacity {
		if c.len[1] == 0 {
			return false // too large
		}
		c.pop(1)
	}
	c.push(1, key)
	return hit
}
