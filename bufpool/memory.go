package bufpool

import "github.com/firncache/firn/internal/offheap"

// memory is where a level's blocks come from. The zero value is the Go heap.
type memory struct {
	alloc func(n int) ([]byte, error) // n ≥ 1 zeroed bytes
	free  func([]byte) error          // takes the very slice that alloc returned
}

// offHeap maps memory that the collector never sees.
var offHeap = memory{alloc: offheap.Alloc, free: offheap.Free}

// alloc returns n bytes, aligned as the pool's are, and the slab that accounts
// for them. When the level's memory refuses, the heap serves instead.
func (l *level) alloc(n int) ([]byte, *slab) {
	align := l.pool.align
	if l.memory.alloc != nil {
		mem, err := l.memory.alloc(n)
		if err == nil && offheap.Misaligned(mem, align) == 0 {
			return mem, &slab{bytes: int64(n), mapped: mem}
		}
		if err == nil {
			_ = l.memory.free(mem)
		}
		l.failed.Add(1)
	}
	mem := make([]byte, n)
	off := 0
	if n > 0 && offheap.Misaligned(mem, align) != 0 {
		mem = make([]byte, n+align-1)
		off = offheap.Misaligned(mem, align)
	}
	return mem[off : off+n], &slab{bytes: int64(len(mem))}
}
