package sim

// lru evicts the key that was used longest ago.
type lru struct {
	*lists
	capacity int
}

// NewLRU is the baseline that every gap is measured from.
func NewLRU(keys, capacity int) Cache { return &lru{newLists(keys, 1), capacity} }

func (c *lru) Access(key int32) bool {
	hit := c.where[key] != 0
	if !hit && c.len[1] == c.capacity {
		c.pop(1)
	}
	c.push(1, key)
	return hit
}
