package sim

// twoQ is 2Q (Johnson and Shasha, VLDB'94) with the paper's Kin = 25 % and
// Kout = 50 % of the capacity.
type twoQ struct {
	*lists
	capacity, in, out int
}

const (
	twoQIn uint8 = iota + 1
	twoQMain
	twoQOut
)

// New2Q is the full version of 2Q.
func New2Q(keys, capacity int) Cache {
	return &twoQ{newLists(keys, 3), capacity, max(1, capacity/4), max(1, capacity/2)}
}

func (c *twoQ) Access(key int32) bool {
	switch c.where[key] {
	case twoQMain:
		c.push(twoQMain, key)
		return true
	case twoQIn:
		return true
	case twoQOut:
		c.push(twoQMain, key)
	default:
		c.push(twoQIn, key)
	}
	if c.len[twoQIn]+c.len[twoQMain] > c.capacity {
		c.evict()
	}
	return false
}

func (c *twoQ) evict() {
	if c.len[twoQIn] <= c.in && c.len[twoQMain] > 1 {
		c.pop(twoQMain)
		return
	}
	c.push(twoQOut, c.pop(twoQIn))
	if c.len[twoQOut] > c.out {
		c.pop(twoQOut)
	}
}
