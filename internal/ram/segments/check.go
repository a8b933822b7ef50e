package segments

import "fmt"

// Check compares the pool's counts with its lists, and with held, the number of segments
// that the shards have.
func (p *Pool) Check(held int) error {
	p.Lock()
	defer p.Unlock()
	free := 0
	for _, c := range []Chain{p.recycled, p.decommitted} {
		n := 0
		for id := c.head; id != 0 && n < c.N; id = p.segs[id].Next {
			if o := p.segs[id].Owner.Load(); o != 0 {
				return fmt.Errorf("pool: free segment %d belongs to shard %d", id, o)
			}
			n++
		}
		if n != c.N {
			return fmt.Errorf("pool: a chain of %d segments has %d", c.N, n)
		}
		free += n
	}
	switch {
	case p.Used != held:
		return fmt.Errorf("pool: %d segments in use, and the shards hold %d", p.Used, held)
	case p.Used+free != int(p.Fresh)-1:
		return fmt.Errorf("pool: %d segments in use and %d free: want %d together", p.Used, free, p.Fresh-1)
	case p.Used > p.Limit:
		return fmt.Errorf("pool: %d segments in use: want at most %d", p.Used, p.Limit)
	}
	return nil
}
