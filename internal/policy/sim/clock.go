package sim

// clock is FIFO with counters: a key that reaches the end with a count above
// zero goes round again with one less.
type clock struct {
	*lists
	capacity int
	count    []uint8
	max      uint8
}

// NewFIFO evicts in order of insertion.
func NewFIFO(keys, capacity int) Cache {
	return &clock{newLists(keys, 1), capacity, make([]uint8, keys), 0}
}

// NewClock is FIFO with a second chance.
func NewClock(keys, capacity int) Cache {
	return &clock{newLists(keys, 1), capacity, make([]uint8, keys), 1}
}

func (c *clock) Access(key int32) bool {
	if c.where[key] != 0 {
		c.count[key] = min(c.count[key]+1, c.max)
		return true
	}
	if c.len[1] == c.capacity {
		c.evict()
	}
	c.count[key] = 0
	c.push(1, key)
	return false
}

func (c *clock) evict() {
	for {
		key := c.pop(1)
		if c.count[key] == 0 {
			return
		}
		c.count[key]--
		c.push(1, key)
	}
}

// sieve is SIEVE (Zhang et al., NSDI'24): keys stay where they are and a hand
// walks from the oldest to the newest, clearing marks, evicting the first
// unmarked key it meets.
type sieve struct {
	*lists
	capacity int
	visited  []bool
	hand     int32
}

// NewSIEVE is SIEVE with one visited bit.
func NewSIEVE(keys, capacity int) Cache {
	l := newLists(keys, 1)
	return &sieve{l, capacity, make([]bool, keys), l.head(1)}
}

func (c *sieve) Access(key int32) bool {
	if c.where[key] != 0 {
		c.visited[key] = true
		return true
	}
	if c.len[1] == c.capacity {
		c.evict()
	}
	c.push(1, key)
	return false
}

func (c *sieve) evict() {
	for {
		if c.hand == c.head(1) {
			c.hand = c.oldest(1)
		}
		key := c.hand
		c.hand = c.prev[key]
		if !c.visited[key] {
			c.remove(key)
			return
		}
		c.visited[key] = false
	}
}
