package vfs

import "fmt"

// CheckSpace recounts the blocks of every file, and compares with what is charged.
func (m *Mem) CheckSpace() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum int64
	for _, n := range m.names {
		before := n.charged
		if change := n.recount(); change != 0 {
			return fmt.Errorf("file %d is charged %d blocks, has %d", n.id, before, n.charged)
		}
		sum += n.charged
	}
	if sum != m.used {
		return fmt.Errorf("%d blocks are charged, files have %d", m.used, sum)
	}
	return nil
}
