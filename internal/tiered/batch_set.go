package tiered

import "github.com/firncache/firn/internal/ram"

// SetMulti stores values[i] under keys[i], as many as it can, and returns the
// first error. With each, that is asked for the deadline of every value.
func (s *Store) SetMulti(keys, values [][]byte, deadline int64, each func() int64) (first error) {
	var window ram.Window
	for len(keys) > 0 {
		n := min(len(keys), ram.BatchWindow)
		s.ram.Prepare(&window, keys[:n])
		for i, key := range keys[:n] {
			if each != nil {
				deadline = each()
			}
			err := s.write(&change{op: set, hash: window.Hash(i), key: key, value: values[i], deadline: deadline})
			if first == nil {
				first = err
			}
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}
