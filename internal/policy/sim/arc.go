package sim

// arc is ARC (Megiddo and Modha, FAST'03), or CAR (Bansal and Modha, FAST'04)
// where t1 and t2 are clocks: then a hit only sets a mark.
type arc struct {
	*lists
	capacity, target int // target: how many keys t1 should hold
	clocks           bool
	marked           []bool
}

const (
	t1 uint8 = iota + 1 // seen once
	t2                  // seen more than once
	b1                  // ghosts of t1
	b2                  // ghosts of t2
)

// NewARC adapts the split of recency and frequency by its ghosts' hits.
func NewARC(keys, capacity int) Cache {
	return &arc{lists: newLists(keys, 4), capacity: capacity}
}

// NewCAR is ARC with clocks in the place of LRU lists.
func NewCAR(keys, capacity int) Cache {
	return &arc{newLists(keys, 4), capacity, 0, true, make([]bool, keys)}
}

func (c *arc) Access(key int32) bool {
	from := c.where[key]
	switch from {
	case t1, t2:
		if c.clocks {
			c.marked[key] = true
		} else {
			c.push(t2, key)
		}
		return true
	case b1:
		c.target = min(c.capacity, c.target+max(1, c.len[b2]/c.len[b1]))
	case b2:
		c.target = max(0, c.target-max(1, c.len[b1]/c.len[b2]))
	}
	if c.len[t1]+c.len[t2] == c.capacity {
		if c.clocks {
			c.sweep()
		} else {
			c.replace(from)
		}
	}
	if from == 0 {
		c.trimGhosts()
		c.push(t1, key)
	} else {
		c.push(t2, key)
	}
	if c.clocks {
		c.marked[key] = false
	}
	return false
}

// replace is ARC's REPLACE.
func (c *arc) replace(from uint8) {
	n := c.len[t1]
	if n > 0 && (n > c.target || from == b2 && n == c.target || c.len[t2] == 0) {
		c.push(b1, c.pop(t1))
	} else {
		c.push(b2, c.pop(t2))
	}
}

// sweep is CAR's replace: marked keys move to the head of t2.
func (c *arc) sweep() {
	for {
		from, ghost := t2, b2
		if c.len[t1] >= max(1, c.target) || c.len[t2] == 0 {
			from, ghost = t1, b1
		}
		key := c.pop(from)
		if !c.marked[key] {
			c.push(ghost, key)
			return
		}
		c.marked[key] = false
		c.push(t2, key)
	}
}

// trimGhosts keeps t1+b1 within the capacity and all four lists within twice
// the capacity, before a key without a ghost enters.
func (c *arc) trimGhosts() {
	all := c.len[t1] + c.len[t2] + c.len[b1] + c.len[b2]
	switch {
	case c.len[t1]+c.len[b1] >= c.capacity && c.len[b1] > 0:
		c.pop(b1)
	case all >= 2*c.capacity && c.len[b2] > 0:
		c.pop(b2)
	}
}
