package bufpool

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Level is one size class of a pool.
type Level struct {
	// Size of a buffer in bytes, 1 or more; no two levels have the same.
	Size int
	// MaxBytes is a ceiling on the memory of this level, as Options.MaxBytes is
	// for the pool. 0: only the pool's.
	MaxBytes int64
	// OffHeap takes the memory from outside the Go heap. Sizes are rounded up to
	// whole pages there, so it is for large buffers. Where the system has no such
	// memory, or refuses, the heap serves instead and Stats counts it. A checked
	// pool always takes the heap.
	OffHeap bool
}

// Options configure a Pool. The zero value is that of the package's own pool.
type Options struct {
	// Levels in any order; none: those of DefaultLevels that fit MaxBuffer and Align.
	Levels []Level
	// MaxBytes is a ceiling in bytes on the memory that the pool keeps: a buffer that is
	// released while the pool owns more, lent and idle together, is given back
	// instead of kept. It never refuses a Get: beyond it the pool is no better,
	// and no worse, than make. So let it be more than the program holds at once.
	// Buffers above the top level do not count. 0: 1 GiB.
	MaxBytes int64
	// MaxBuffer is the largest single buffer in bytes; more is ErrTooLarge, so
	// that a length read from a network cannot take the memory of the machine.
	// 0: 1 GiB.
	MaxBuffer int64
	// Align is the alignment of the address of every buffer's memory, in
	// bytes: a power of two up to 4096, and a divisor of every level's size.
	// Direct I/O needs it. 0: 1, no promise.
	Align int
	// Checked finds misuse, at several times the cost; see the package comment for
	// what it finds. The build tag bufpoolcheck turns it on in every pool.
	Checked bool
}

const (
	defaultMaxBytes  = 1 << 30
	defaultMaxBuffer = 1 << 30
	maxLevels        = 255
	maxAlign         = 4096
	keepNothing      = -1

	// From borrowFrom bytes up, Get prefers an idle buffer of up to borrowUpTo
	// times the size: large buffers that take turns do not stay in the
	// processor's cache, and one that is used for all sizes does.
	borrowFrom = 64 << 10
	borrowUpTo = 4
)

// Pool lends buffers. New makes one; the zero Pool is of no use. It is safe for
// concurrent use, needs no Close, and must not be copied.
type Pool struct {
	levels    []level     // by size
	above     level       // buffers larger than the top level: lent, counted, never kept
	first     [256]*level // of each step, the first level to look at
	maxBytes  int64
	maxBuffer int
	align     int
	top       int   // size of the largest level
	trusted   int64 // the most that is allocated on the word of a hint; more, as bytes arrive
	checked   bool
	offHeap   bool // some level is

	mu     sync.Mutex    // held while owned of the pool or of a level changes
	owned  atomic.Int64  // bytes lent and idle, without those above the top level
	start  atomic.Int64  // size of the first buffer of a stream of unknown length
	serial atomic.Uint64 // checked pools: the number of the last lend
	lost   lostList      // checked pools: forgotten buffers
}

// New returns a pool; the zero Options are those of the package's own. An error
// names the option that cannot be, its value and the values allowed.
func New(o Options) (*Pool, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxBuffer == 0 {
		o.MaxBuffer = defaultMaxBuffer
	}
	if len(o.Levels) == 0 {
		o.Levels = slices.DeleteFunc(DefaultLevels(), func(l Level) bool {
			return int64(l.Size) > o.MaxBuffer || l.Size%max(o.Align, 1) != 0
		})
	}
	sorted := slices.Clone(o.Levels)
	slices.SortFunc(sorted, func(a, b Level) int { return a.Size - b.Size })
	o.Levels = sorted
	if err := o.validate(); err != nil {
		return nil, err
	}
	p := &Pool{
		levels:    make([]level, len(sorted)),
		maxBytes:  o.MaxBytes,
		maxBuffer: int(o.MaxBuffer),
		align:     max(o.Align, 1),
		checked:   o.Checked || checkedBuild,
	}
	for i, l := range sorted {
		p.levels[i].init(p, l)
		p.offHeap = p.offHeap || l.OffHeap
	}
	p.link()
	p.above.init(p, Level{})
	p.above.maxBytes = keepNothing
	p.top = sorted[len(sorted)-1].Size
	p.trusted = int64(min(max(p.top, minTrusted), p.maxBuffer))
	p.index()
	p.start.Store(minRead)
	return p, nil
}

func (o *Options) validate() error {
	if o.MaxBytes < 0 {
		return fmt.Errorf("bufpool: Options.MaxBytes is %d: want 0 or more", o.MaxBytes)
	}
	if o.MaxBuffer < 0 || o.MaxBuffer > math.MaxInt {
		return fmt.Errorf("bufpool: Options.MaxBuffer is %d: want 0 to %d", o.MaxBuffer, math.MaxInt)
	}
	if len(o.Levels) > maxLevels {
		return fmt.Errorf("bufpool: Options.Levels has %d levels: want at most %d", len(o.Levels), maxLevels)
	}
	if o.Align < 0 || o.Align > maxAlign || o.Align&(o.Align-1) != 0 {
		return fmt.Errorf("bufpool: Options.Align is %d: want 0 or a power of two up to %d", o.Align, maxAlign)
	}
	if len(o.Levels) == 0 {
		return fmt.Errorf("bufpool: Options.MaxBuffer is %d: want Levels, as none of the default ones fits", o.MaxBuffer)
	}
	for i, l := range o.Levels {
		if l.Size%max(o.Align, 1) != 0 {
			return fmt.Errorf("bufpool: Level.Size is %d: want a multiple of Options.Align, %d", l.Size, o.Align)
		}
		if l.Size < 1 || int64(l.Size) > o.MaxBuffer {
			return fmt.Errorf("bufpool: Level.Size is %d: want 1 to Options.MaxBuffer, %d", l.Size, o.MaxBuffer)
		}
		if l.MaxBytes < 0 {
			return fmt.Errorf("bufpool: Level.MaxBytes of size %d is %d: want 0 or more", l.Size, l.MaxBytes)
		}
		if i > 0 && l.Size == o.Levels[i-1].Size {
			return fmt.Errorf("bufpool: Level.Size %d is given twice: want distinct sizes", l.Size)
		}
	}
	return nil
}

// DefaultLevels are the sizes of the package's own pool: 512 bytes to 16 MiB,
// two to every doubling (512, 768, 1024, 1536, …), so that at most a third of a
// buffer is spare.
func DefaultLevels() []Level {
	var levels []Level
	for size := 512; size <= 16<<20; size *= 2 {
		levels = append(levels, Level{Size: size}, Level{Size: size + size/2})
	}
	return levels[:len(levels)-1]
}

// link lets each level find the next, and those it may borrow from.
func (p *Pool) link() {
	for i := range p.levels {
		l := &p.levels[i]
		rest := p.levels[i+1:]
		if len(rest) > 0 {
			l.next = &rest[0]
		}
		for j := range rest {
			if l.size >= borrowFrom && rest[j].size/borrowUpTo <= l.size {
				l.larger = append(l.larger, &rest[j])
			}
		}
		slices.Reverse(l.larger)
		l.careful.Store(l.mustCare())
	}
}

// index fills the table from a size's step to the first level that can hold the
// step's smallest size.
func (p *Pool) index() {
	i := 0
	for s := range p.first {
		for i < len(p.levels) && step(p.levels[i].size) < uint8(s) {
			i++
		}
		p.first[s] = &p.levels[min(i, len(p.levels)-1)]
	}
}

// step maps a size to one of four steps per doubling: a larger size never has
// a smaller step.
func step(n int) uint8 {
	x := uint(max(n, 1) - 1)
	k := uint(bits.Len(x|4)) - 3
	return uint8(4*k + x>>(k%bits.UintSize))
}

// Get lends a buffer of length 0 and capacity n or more, to be released once. It
// has the size of the level that fits n best or, from 64 KiB up, of an idle
// buffer of up to four times that size. Above the top level the capacity is n,
// and the memory is not kept afterwards.
//
// A negative n, or one above Options.MaxBuffer, takes no memory: the buffer has
// capacity 0, and Err, Grow and every write return the error.
func (p *Pool) Get(n int) *Buffer {
	if uint(n) > uint(p.top) {
		return p.getAbove(n)
	}
	l := p.levelOf(n)
	if l.careful.Load() {
		return l.getCarefully()
	}
	if b := l.stash.take(); b != nil && b.slot.state.get().refs() == 0 {
		return b.lend()
	}
	return l.grow()
}

// levelOf is the smallest level of at least n bytes; n is at most the top level.
func (p *Pool) levelOf(n int) *level {
	l := p.first[step(n)]
	for l.size < n {
		l = l.next
	}
	return l
}

func (p *Pool) getAbove(n int) *Buffer {
	if err := p.checkSize(n); err != nil {
		b := p.above.allocate(0)
		b.err = err
		return b
	}
	return p.above.allocate(n)
}

func (p *Pool) checkSize(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: %d bytes: want 0 to %d", ErrNegative, n, p.maxBuffer)
	}
	if n > p.maxBuffer {
		return fmt.Errorf("%w: %d bytes: want at most Options.MaxBuffer, %d", ErrTooLarge, n, p.maxBuffer)
	}
	return nil
}

var defaultPool = mustNew()

func mustNew() *Pool {
	p, err := New(Options{})
	if err != nil {
		panic(err) // the zero Options are valid
	}
	return p
}

// Default is the pool behind the package's functions.
func Default() *Pool { return defaultPool }

// Get lends a buffer from the default pool; see Pool.Get.
func Get(n int) *Buffer { return defaultPool.Get(n) }
