package streams

import (
	"io"
	"sync"
)

// gmmPool is the design of gmmpool, written for the comparison: levels by size,
// each with its own lock, that grow by many buffers in one allocation and never
// shrink. Its faults are kept where they save time: slices are not capped, and
// nothing notices a buffer that is put back twice.
type gmmPool struct {
	levels []gmmLevel // by size, powers of two
}

type gmmLevel struct {
	mu   sync.Mutex
	size int
	grow int // buffers per allocation
	free [][]byte
}

// newGMMPool has levels from 512 bytes to 2 MiB that grow by 4 MiB, at most 64
// buffers at once.
func newGMMPool() *gmmPool {
	p := &gmmPool{}
	for size := 512; size <= 2<<20; size *= 2 {
		p.levels = append(p.levels, gmmLevel{size: size, grow: min(64, 4<<20/size)})
	}
	return p
}

// level is the smallest of at least n bytes.
func (p *gmmPool) level(n int) *gmmLevel {
	for i := range p.levels {
		if p.levels[i].size >= n {
			return &p.levels[i]
		}
	}
	panic("gmmpool: above the top level")
}

func (l *gmmLevel) get() []byte {
	l.mu.Lock()
	if len(l.free) == 0 {
		block := make([]byte, l.size*l.grow)
		for i := range l.grow {
			l.free = append(l.free, block[i*l.size:(i+1)*l.size])
		}
	}
	b := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.mu.Unlock()
	return b
}

func (l *gmmLevel) put(b []byte) {
	l.mu.Lock()
	l.free = append(l.free, b)
	l.mu.Unlock()
}

// readAll reads r to its end into one buffer of the pool, whose level it also
// returns. hint is the expected length, or 0; one byte more finds the end.
func (p *gmmPool) readAll(r io.Reader, hint int) ([]byte, *gmmLevel, error) {
	l := p.level(hint + 1)
	b, n := l.get(), 0
	for {
		if n == l.size {
			larger := p.level(2 * l.size)
			next := larger.get()
			copy(next, b[:n])
			l.put(b)
			b, l = next, larger
		}
		m, err := r.Read(b[n:l.size])
		n += m
		if err == io.EOF {
			return b[:n], l, nil
		}
		if err != nil {
			return b[:n], l, err
		}
	}
}
