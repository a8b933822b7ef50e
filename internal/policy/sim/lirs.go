package sim

// lirs is LIRS (Jiang and Zhang, SIGMETRICS'02): 1 % of the capacity for
// resident HIR keys, a stack of at most three times the capacity.
type lirs struct {
	stack        *lists // list 1: keys by recency, ghosts among them
	queue        *lists // list 1: resident HIR keys
	state        []uint8
	hot          int // LIR keys
	maxHot, cold int
	capacity     int
}

const (
	lirsGone uint8 = iota // absent, or a ghost if in the stack
	lirsHIR
	lirsLIR
)

// NewLIRS is LIRS with the paper's 1 % for HIR keys, at least two.
func NewLIRS(keys, capacity int) Cache {
	cold := min(max(2, capacity/100), max(1, capacity-1))
	return &lirs{newLists(keys, 1), newLists(keys, 1), make([]uint8, keys), 0, capacity - cold, cold, capacity}
}

func (c *lirs) Access(key int32) bool {
	switch c.state[key] {
	case lirsLIR:
		c.stack.push(1, key)
		c.prune()
		return true
	case lirsHIR:
		if c.stack.where[key] != 0 {
			c.queue.remove(key)
			c.promote(key)
		} else {
			c.queue.push(1, key)
			c.stack.push(1, key)
		}
		return true
	}
	c.insert(key)
	return false
}

func (c *lirs) insert(key int32) {
	if c.hot < c.maxHot && c.queue.len[1] == 0 {
		c.promote(key)
		return
	}
	if c.hot+c.queue.len[1] >= c.capacity {
		c.state[c.queue.pop(1)] = lirsGone
	}
	if c.stack.where[key] != 0 {
		c.promote(key)
		return
	}
	c.state[key] = lirsHIR
	c.queue.push(1, key)
	c.stack.push(1, key)
	c.boundStack()
}

// promote makes key LIR, and the oldest LIR key HIR if there are too many.
func (c *lirs) promote(key int32) {
	c.state[key] = lirsLIR
	c.stack.push(1, key)
	c.hot++
	if c.hot > c.maxHot {
		c.prune()
		old := c.stack.pop(1)
		c.state[old] = lirsHIR
		c.queue.push(1, old)
		c.hot--
	}
	c.prune()
}

// prune leaves a LIR key at the bottom of the stack.
func (c *lirs) prune() {
	for c.stack.len[1] > 0 && c.state[c.stack.oldest(1)] != lirsLIR {
		c.stack.pop(1)
	}
}

// boundStack forgets the oldest ghost when the stack is over its bound.
func (c *lirs) boundStack() {
	if c.stack.len[1] <= 3*c.capacity {
		return
	}
	key := c.stack.oldest(1)
	for c.state[key] != lirsGone {
		key = c.stack.prev[key]
		if key == c.stack.head(1) {
			return
		}
	}
	c.stack.remove(key)
}
