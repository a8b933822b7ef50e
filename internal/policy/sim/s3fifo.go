package sim

// s3fifo is S3-FIFO (Yang et al., SOSP'23): 10 % small queue, promotion from
// it at two hits, a ghost queue as long as main, two bits of frequency.
type s3fifo struct {
	*lists
	capacity, small int
	count           []uint8
}

const (
	s3Small uint8 = iota + 1
	s3Main
	s3Ghost
)

// NewS3FIFO is S3-FIFO with the paper's parameters.
func NewS3FIFO(keys, capacity int) Cache {
	return NewSizedS3FIFO(keys, capacity, nil)
}

// NewSizedS3FIFO is S3-FIFO with a capacity in bytes.
func NewSizedS3FIFO(keys, capacity int, sizes []int32) Cache {
	c := &s3fifo{newLists(keys, 3), capacity, max(1, capacity/10), make([]uint8, keys)}
	c.sizes = sizes
	return c
}

func (c *s3fifo) Access(key int32) bool {
	from := c.where[key]
	if from == s3Small || from == s3Main {
		c.count[key] = min(c.count[key]+1, 3)
		return true
	}
	if c.size(key) > c.capacity {
		return false
	}
	c.remove(key)
	for c.len[s3Small]+c.len[s3Main]+c.size(key) > c.capacity {
		if c.len[s3Small] >= c.small || c.len[s3Main] == 0 {
			c.evictSmall()
		} else {
			c.evictMain()
		}
	}
	c.count[key] = 0
	if from == s3Ghost {
		c.push(s3Main, key)
	} else {
		c.push(s3Small, key)
	}
	return false
}

func (c *s3fifo) evictSmall() {
	key := c.pop(s3Small)
	if c.count[key] > 1 {
		c.count[key] = 0
		c.push(s3Main, key)
		return
	}
	c.push(s3Ghost, key)
	for c.len[s3Ghost] > c.capacity-c.small {
		c.pop(s3Ghost)
	}
}

func (c *s3fifo) evictMain() {
	key := c.pop(s3Main)
	if c.count[key] > 0 {
		c.count[key]--
		c.push(s3Main, key)
	}
}
