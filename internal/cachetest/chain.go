package cachetest

import (
	"fmt"
	"sync"
)

// Chain watches one key that many goroutines change, each by what it found there, and that
// may lose its value at any time. Every value has a number of its own:
//
//   - Of those that found the same value, one at most has replaced it: no change is lost.
//   - A value whose replacement was acknowledged is not found by a call that began later.
type Chain struct {
	Key []byte

	mu   sync.Mutex
	now  uint64            // the moment: counts calls that began or ended
	last uint64            // number given
	over map[uint64]uint64 // when the change that replaced a value, or removed it, was acknowledged
}

// Begin is the moment at which a call begins.
func (c *Chain) Begin() (moment uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

// Next is the number of a new value.
func (c *Chain) Next() (seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// Check says which value a call found that began at a moment, and whether it may have.
func (c *Chain) Check(began uint64, value []byte) (seq uint64, err error) {
	if seq, err = Sequence(c.Key, value); err != nil {
		return 0, fmt.Errorf("key %x: %w", c.Key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.over[seq]; ok && at < began {
		return seq, fmt.Errorf("key %x: %w: value %d, found at %d and replaced by %d", c.Key, ErrStale, seq, began, at)
	}
	return seq, nil
}

// Replaced notes that a change of value number seq, 0 for none, was acknowledged.
func (c *Chain) Replaced(seq uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	if at, ok := c.over[seq]; ok && seq != 0 {
		return fmt.Errorf("key %x: value %d was replaced twice, by %d and by %d", c.Key, seq, at, c.now)
	}
	if c.over == nil {
		c.over = map[uint64]uint64{}
	}
	c.over[seq] = c.now
	return nil
}
