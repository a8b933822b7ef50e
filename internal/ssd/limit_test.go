package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// The limit of the write rate goes by the clock that the tier was given: what
// has been used up comes back as that goes on, and no sooner.
func TestLimitGoesByTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const limit, size = 1 << 20, 1000
		w := newWorld(t, 1)
		cfg := testConfig(vfs.NewMem(), w)
		cfg.WriteLimit = limit
		w.reopen(t, cfg)
		next := 0
		// taken is how many bytes of records are let in until one is not.
		taken := func() (bytes int) {
			for ; ; next++ {
				key, limited := w.key(next), w.tier.Stats().Limited
				h := w.hasher.Hash(key)
				for !w.tier.Demote(h, key, make([]byte, size), 0, true) {
					if w.tier.Stats().Limited > limited {
						return bytes
					}
					w.roomy()
				}
				bytes += size
			}
		}
		burst := taken()
		if burst < limit*3/4 || burst > limit {
			t.Errorf("%d bytes at once, want nearly the burst of %d", burst, limit)
		}
		if n := taken(); n > 0 {
			t.Errorf("%d bytes more, and the clock stood still", n)
		}
		w.now.Add(500)
		if n := taken(); n < limit*3/8 || n > limit/2 {
			t.Errorf("%d bytes in half a second, want nearly %d", n, limit/2)
		}
		w.close(t)
	})
}
