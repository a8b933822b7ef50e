package bufpool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// growStep is the most that a level grows by in one allocation, unless a single
// buffer is larger.
const growStep = 64 << 10

// level is the blocks of one size. Lock order: level.mu, Pool.mu.
type level struct {
	pool     *Pool
	next     *level   // the next larger one
	larger   []*level // to borrow from, largest first
	size     int
	maxBytes int64
	memory   memory
	stash    stash        // idle buffers
	owned    atomic.Int64 // bytes lent and idle
	careful  atomic.Bool  // checked, able to borrow, or over a ceiling: Get and Release take the long way

	mu     sync.Mutex
	slots  []*slot // of every block that is not given back
	past   tally   // of the blocks that are
	_      [64]byte
	grows  atomic.Uint64
	failed atomic.Uint64 // off-heap allocations that the heap had to serve
}

// tally sums up slots that are gone. Guarded by level.mu.
type tally struct {
	lends, misses, givenBack, leaked uint64
}

func (l *level) init(p *Pool, o Level) {
	l.pool, l.size, l.maxBytes = p, o.Size, o.MaxBytes
	if l.maxBytes == 0 || l.maxBytes > p.maxBytes {
		l.maxBytes = p.maxBytes
	}
	if o.OffHeap && !p.checked { // addresses that were unmapped may be others' memory soon
		l.memory = offHeap
	}
}

// lend gives out an idle buffer that the caller took from the stash, or made.
func (b *Buffer) lend() *Buffer {
	b.lent += oneLend
	b.start, b.end = 0, 0
	b.slot.state.set(b.lent)
	return b
}

// getCarefully is Pool.Get where the level is careful.
func (l *level) getCarefully() *Buffer {
	if b := l.borrow(); b != nil {
		return b
	}
	if b := l.stash.take(); b != nil {
		return l.lendCarefully(b)
	}
	return l.grow()
}

// borrow lends an idle buffer of a larger level, or returns nil.
func (l *level) borrow() *Buffer {
	for _, o := range l.larger {
		if o.owned.Load() == 0 {
			continue
		}
		if b := o.stash.take(); b != nil {
			return o.lendCarefully(b)
		}
	}
	return nil
}

// lendCarefully is lend where the level is careful.
func (l *level) lendCarefully(b *Buffer) *Buffer {
	if b.slot.state.get().refs() != 0 {
		// Two Releases at once, of an unchecked pool, left it in the stash twice.
		return l.grow()
	}
	if l.pool.checked {
		b = b.renew()
	}
	return b.lend()
}

// takeBack makes a buffer idle whose last reference its owner has just ended,
// or gives its memory back.
func (l *level) takeBack(b *Buffer) {
	if l.over() {
		l.giveBack(b)
		return
	}
	b.slot.state.set(b.lent - oneRef)
	l.stash.put(b)
}

func (l *level) over() bool {
	return l.owned.Load() > l.maxBytes || l.pool.owned.Load() > l.pool.maxBytes
}

// mustCare is the value that careful must have.
func (l *level) mustCare() bool { return l.pool.checked || len(l.larger) > 0 || l.over() }

// own counts n more bytes, and lets every level know when that leads over a
// ceiling, or back under it.
func (l *level) own(n int64) {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	l.owned.Add(n)
	if l == &p.above { // never kept, so no reason to keep less of the others
		n = 0
	}
	was := p.owned.Load() > p.maxBytes
	if is := p.owned.Add(n) > p.maxBytes; is != was {
		for i := range p.levels {
			p.levels[i].careful.Store(p.levels[i].mustCare())
		}
	}
	l.careful.Store(l.mustCare())
}

// grow makes as many blocks as the level has, within growStep and the ceilings;
// it lends the first and keeps the others.
func (l *level) grow() *Buffer {
	l.mu.Lock()
	n := max(1, min(len(l.slots), growStep/l.size))
	if room := min(l.maxBytes-l.owned.Load(), l.pool.maxBytes-l.pool.owned.Load()); int64(n*l.size) > room {
		n = 1
	}
	l.mu.Unlock()
	made := l.cut(l.size, n)
	for _, b := range made[1:] {
		l.stash.put(b)
	}
	return l.lendCarefully(made[0])
}

// allocate makes and lends a single block of n bytes.
func (l *level) allocate(n int) *Buffer { return l.lendCarefully(l.cut(n, 1)[0]) }

// cut makes count idle buffers of n bytes each in one allocation.
func (l *level) cut(n, count int) []*Buffer {
	mem, sb := l.alloc(n * count)
	sb.left = count
	made := make([]*Buffer, count)
	for i := range made {
		blk := &block{slot: &slot{level: l, slab: sb, size: n}}
		runtime.AddCleanup(blk, (*slot).collected, blk.slot)
		made[i] = newHandle(blk, mem[i*n:(i+1)*n:(i+1)*n])
	}
	l.own(sb.bytes)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.past.misses++
	for _, b := range made {
		b.slot.index = len(l.slots)
		l.slots = append(l.slots, b.slot)
	}
	return made
}

// replace gives a block other memory. That of a slab goes with its last block.
func (l *level) replace(sl *slot) []byte {
	mem, sb := l.alloc(sl.size)
	sb.left = 1
	l.own(sb.bytes)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(sl)
	sl.slab = sb
	return mem
}

// giveBack drops a buffer that its last owner released.
func (l *level) giveBack(b *Buffer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.slot.index < 0 { // two Releases at once, of an unchecked pool
		b.misused("Release")
	}
	b.mem = nil
	l.past.givenBack++
	l.forget(b.slot, b.lent)
	l.leave(b.slot)
}

// collected runs after the collector took a block. One that was lent then was
// forgotten by its owner. Off-heap memory of such a block stays mapped for
// ever: a slice of it may still be in use.
func (sl *slot) collected() {
	l := sl.level
	l.mu.Lock()
	defer l.mu.Unlock()
	if sl.index < 0 {
		return // given back before
	}
	s := sl.state.get()
	if s.lent() {
		l.past.leaked++
		l.pool.lost.add(sl)
	} else {
		l.past.givenBack++
	}
	l.forget(sl, s)
	if !s.lent() || sl.slab.mapped == nil {
		l.leave(sl)
	}
}

// forget takes a slot out of the list. The caller holds mu.
func (l *level) forget(sl *slot, s state) {
	sl.state.set(s | gone)
	l.past.lends += s.lends()
	last := l.slots[len(l.slots)-1]
	l.slots[sl.index], last.index = last, sl.index
	sl.index = -1
	l.slots[len(l.slots)-1] = nil
	l.slots = l.slots[:len(l.slots)-1]
}

// leave ends a block's part in its slab, and the slab with its last block. The
// caller holds mu.
func (l *level) leave(sl *slot) {
	sb := sl.slab
	if sb.left--; sb.left > 0 {
		return
	}
	l.own(-sb.bytes)
	if sb.mapped != nil {
		_ = l.memory.free(sb.mapped)
	}
}
