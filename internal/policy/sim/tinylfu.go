package sim

// tinyLFU is W-TinyLFU (Einziger et al., TOS'17) with Caffeine's fixed 1 %
// window, 80 % protected main, and a sketch of 4-bit counters that is halved
// every ten capacities of requests.
type tinyLFU struct {
	*lists
	capacity, window, protected int
	sketch                      [4][]uint8
	mask                        uint32
	requests                    int
}

const (
	lfuWindow uint8 = iota + 1
	lfuProbation
	lfuProtected
)

// NewWTinyLFU is W-TinyLFU without hill climbing.
func NewWTinyLFU(keys, capacity int) Cache {
	c := &tinyLFU{lists: newLists(keys, 3), capacity: capacity, window: max(1, capacity/100)}
	c.protected = (capacity - c.window) * 8 / 10
	size := 64
	for size < 4*capacity {
		size *= 2
	}
	for i := range c.sketch {
		c.sketch[i] = make([]uint8, size)
	}
	c.mask = uint32(size - 1)
	return c
}

func (c *tinyLFU) Access(key int32) bool {
	c.record(key)
	switch c.where[key] {
	case lfuWindow:
		c.push(lfuWindow, key)
		return true
	case lfuProbation, lfuProtected:
		c.push(lfuProtected, key)
		if c.len[lfuProtected] > c.protected {
			c.push(lfuProbation, c.pop(lfuProtected))
		}
		return true
	}
	c.push(lfuWindow, key)
	if c.len[lfuWindow] > c.window {
		c.admit(c.pop(lfuWindow))
	}
	return false
}

// admit lets the window's victim in if it is more frequent than main's.
func (c *tinyLFU) admit(candidate int32) {
	probation, protected := c.len[lfuProbation], c.len[lfuProtected]
	if c.len[lfuWindow]+probation+protected >= c.capacity {
		from := lfuProbation
		if probation == 0 {
			from = lfuProtected
		}
		if probation+protected == 0 || c.frequency(candidate) <= c.frequency(c.oldest(from)) {
			return
		}
		c.pop(from)
	}
	c.push(lfuProbation, candidate)
}

func (c *tinyLFU) slot(row int, key int32) *uint8 {
	h := (uint64(key) + 1) * [...]uint64{0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93}[row]
	return &c.sketch[row][uint32(h>>32)&c.mask]
}

func (c *tinyLFU) frequency(key int32) uint8 {
	f := uint8(15)
	for row := range c.sketch {
		f = min(f, *c.slot(row, key))
	}
	return f
}

func (c *tinyLFU) record(key int32) {
	for row := range c.sketch {
		s := c.slot(row, key)
		*s = min(*s+1, 15)
	}
	if c.requests++; c.requests < 10*c.capacity {
		return
	}
	c.requests = 0
	for _, row := range c.sketch {
		for i := range row {
			row[i] /= 2
		}
	}
}
