package bufpool

import "github.com/firncache/firn/internal/offheap"

// memory is where a level's blocks come from. The zero value is the Go heap.
type memory struct {
	alloc func(n int) ([]byte, error) // n ≥ 1 zeroed bytes
	free  func([]byte) error          // takes the very slice that alloc returned
}

// offHeap maps memory that the collector never sees.
var offHeap = memory{alloc: offheap.Alloc, free: offheap.Free}

// alloc returns n bytes and the slab that accounts for them. When the level's
// memory refuses, the heap serves instead.
func (l *level) alloc(n int) ([]byte, *slab) {
	if l.memory.alloc != nil {
		mem, err := l.memory.alloc(n)
		if err == nil {
			return mem, &slab{bytes: int64(n), mapped: mem}
		}
		l.failed.Add(1)
	}
	return make([]byte, n), &slab{bytes: int64(n)}
}
