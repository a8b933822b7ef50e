package aio

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/bufpool"
	"github.com/firncache/firn/internal/vfs"
)

// Errors a caller may test for with errors.Is.
var (
	// ErrClosed says that the Reader was closed before the read, or while it
	// was queued.
	ErrClosed = errors.New("aio: reader is closed")
	// ErrStuck says that Close did not wait any longer for reads in flight.
	ErrStuck = errors.New("aio: reads did not come back")
	// ErrTimeout says that a Try was not waited for any longer.
	ErrTimeout = errors.New("aio: the read takes too long")
	// ErrBusy says that a Try was not begun: see Config.Callers and Config.Silence.
	ErrBusy = errors.New("aio: the disk is busy")
)

// Mode says how reads are done.
type Mode int

const (
	// Auto takes the first that can be had: of LibAIO, if the file was opened with
	// O_DIRECT, of Ring and of Pread.
	Auto Mode = iota
	// Pread gives each read in flight a goroutine that calls File.ReadAt.
	Pread
	// Ring is io_uring, or an error from Open.
	Ring
	// LibAIO is Linux's older asynchronous I/O, or an error from Open. Without
	// O_DIRECT it reads pages that are in the page cache, and leaves the rest to preads.
	LibAIO
)

// Config configures a Reader.
type Config struct {
	// File is read from. It stays the caller's, who closes it after the Reader.
	File vfs.File
	// Depth is the most reads in flight, 1 to 4096. 0: 128.
	Depth int
	// Mode of reading. The zero value is Auto.
	Mode Mode
	// PoolBytes is the most memory in bytes that idle buffers may keep: a buffer
	// released while the Reader owns more, lent and idle together, goes back to
	// the system. 0: 8 MiB.
	PoolBytes int64
	// Memory is the most bytes of buffers in flight; a read that is larger is in
	// flight alone. 0: no limit.
	Memory int64
	// Patience is how long Close waits for reads in flight. 0: 5 s.
	Patience time.Duration

	// The fields below are for Try and TryMany.

	// Callers is the most calls at once. 0: no limit.
	Callers int
	// Timeout is how long a call may take: see Deadline. 0: no limit.
	Timeout time.Duration
	// Silence is how long the disk may have reads in flight, and give none of them
	// back, until no more are begun, but for one in every such time while there are
	// slots: it tells whether the disk has the others only for what is wrong with
	// them. 0: no limit.
	Silence time.Duration
}

// DefaultDepth is the most reads in flight where Config.Depth is 0.
const DefaultDepth = 128

const (
	maxDepth         = 4096
	defaultPoolBytes = 8 << 20
	defaultPatience  = 5 * time.Second

	// bufferAlign is enough for direct I/O on every device.
	bufferAlign = 4096
	topLevel    = 1 << 20
	maxRead     = 1 << 30 // bytes in one read
)

// Reader reads one file. It is safe for concurrent use.
type Reader struct {
	file     vfs.File
	depth    int
	memory   int64
	align    int64
	patience time.Duration
	limits   limits
	pool     *bufpool.Pool
	engine   engine
	opened   time.Time // start times count from it
	counters counters

	mu        sync.Mutex
	queue     queue // reads without a slot, for there is none, or no memory for the first
	inFlight  int
	lent      int64 // bytes of buffers in flight
	abandoned int   // of those in flight
	timed     timed // calls that wait until a deadline at most
	heard     int64 // when a read last came back, or began while none was in flight
	probed    int64 // when the last read was begun while the disk was silent
	usual     int64 // what a read takes lately, in ns
	closed    bool
	drained   chan struct{} // closed when closed && inFlight == 0
	kicks     atomic.Int32  // calls of engine.kick; none begins after drained
	kicked    chan struct{} // holds one token: the last of them that ends while the Reader is closed sends it
	idle      *op           // for the next reads, linked by next
	idleOps   int

	calls    sync.Pool     // of *call, idle
	closing  atomic.Bool   // Close was called
	ended    chan struct{} // closed when the first Close has ended, with closeErr
	closeErr error
}

// engine performs reads that have a slot and a buffer.
type engine interface {
	// start takes a read over. The Reader's lock is held, so that it must not
	// wait; the rest of the work is left to kick.
	start(o *op)
	// kick carries on the work of start, without the lock. It does not wait.
	kick()
	// alone reports whether the first read of a call of so many had better be
	// done by a pread. The lock is held.
	alone(inFlight, reads int) bool
	// collect reports whether a call was settled before its caller has to sleep.
	collect(c *call) bool
	// close frees the engine's resources. Nothing is in flight, nor in kick.
	close()
	name() string
	bytes() int64
}

// Open returns a Reader of cfg.File. An error names the field that cannot be,
// its value and the values allowed; with Mode Ring or LibAIO it may say why there is
// none.
func Open(cfg Config) (*Reader, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	pool, err := bufpool.New(bufpool.Options{Levels: levels(), Align: bufferAlign, MaxBytes: cfg.PoolBytes, MaxBuffer: maxRead})
	if err != nil {
		return nil, fmt.Errorf("aio: buffers: %w", err)
	}
	r := &Reader{
		file:     cfg.File,
		depth:    cfg.Depth,
		memory:   cfg.Memory,
		align:    int64(cfg.File.Align()),
		patience: cfg.Patience,
		limits:   cfg.limits(),
		pool:     pool,
		opened:   time.Now(),
		drained:  make(chan struct{}),
		ended:    make(chan struct{}),
		kicked:   make(chan struct{}, 1),
	}
	if err := r.choose(cfg.Mode); err != nil {
		return nil, err
	}
	return r, nil
}

// choose takes the engine for a mode.
func (r *Reader) choose(mode Mode) (err error) {
	switch mode {
	case Pread:
		r.engine = preads{}
	case Ring:
		if r.engine, err = openRing(r); err != nil {
			return fmt.Errorf("aio: Config.Mode is Ring: %w", err)
		}
	case LibAIO:
		if r.engine, err = openLibAIO(r); err != nil {
			return fmt.Errorf("aio: Config.Mode is LibAIO: %w", err)
		}
	default:
		r.engine = r.best()
	}
	return nil
}

// best takes the first engine that can be had. libaio is of no use without
// O_DIRECT: pages that the page cache has not would be left to preads. With it, it is
// ahead, unless it may wait where reads are handed over: a completion of io_uring is
// not seen before the thread that submitted the read enters the kernel.
func (r *Reader) best() engine {
	order := []func(*Reader) (engine, error){openRing}
	if r.direct() {
		order = []func(*Reader) (engine, error){openPollable, openRing, openLibAIO}
	}
	for _, open := range order {
		if e, err := open(r); err == nil {
			return e
		}
	}
	return preads{}
}

func (cfg *Config) complete() error {
	if cfg.File == nil {
		return errors.New("aio: Config.File is nil: want a file")
	}
	if cfg.Depth < 0 || cfg.Depth > maxDepth {
		return fmt.Errorf("aio: Config.Depth is %d: want 0 to %d", cfg.Depth, maxDepth)
	}
	if cfg.Mode < Auto || cfg.Mode > LibAIO {
		return fmt.Errorf("aio: Config.Mode is %d: want Auto, Pread, Ring or LibAIO", cfg.Mode)
	}
	if cfg.PoolBytes < 0 {
		return fmt.Errorf("aio: Config.PoolBytes is %d: want 0 or more", cfg.PoolBytes)
	}
	if cfg.Memory < 0 {
		return fmt.Errorf("aio: Config.Memory is %d: want 0 or more", cfg.Memory)
	}
	if cfg.Callers < 0 {
		return fmt.Errorf("aio: Config.Callers is %d: want 0 or more", cfg.Callers)
	}
	for name, d := range map[string]time.Duration{"Patience": cfg.Patience, "Timeout": cfg.Timeout, "Silence": cfg.Silence} {
		if d < 0 {
			return fmt.Errorf("aio: Config.%s is %v: want 0 or more", name, d)
		}
	}
	if a := cfg.File.Align(); a < 1 || a > bufferAlign {
		return fmt.Errorf("aio: Config.File has alignment %d: want 1 to %d", a, bufferAlign)
	}
	if cfg.Depth == 0 {
		cfg.Depth = DefaultDepth
	}
	if cfg.PoolBytes == 0 {
		cfg.PoolBytes = defaultPoolBytes
	}
	if cfg.Patience == 0 {
		cfg.Patience = defaultPatience
	}
	return nil
}

// levels are 4, 8, 12, 16, 24, 32, … KiB: two to a doubling, up to 1 MiB.
// Larger buffers come from the heap and are not kept.
func levels() []bufpool.Level {
	l := []bufpool.Level{{Size: bufferAlign, OffHeap: true}}
	for size := 2 * bufferAlign; size <= topLevel; size *= 2 {
		l = append(l, bufpool.Level{Size: size, OffHeap: true})
		if size < topLevel {
			l = append(l, bufpool.Level{Size: size + size/2, OffHeap: true})
		}
	}
	return l
}

// Request is one read of a ReadMany.
type Request struct {
	Off int64 // in bytes; a multiple of the file's Align
	N   int   // bytes to read, 1 or more; a multiple of the file's Align
	// Buf holds N bytes, and is the caller's to release; nil if there is an Err.
	Buf *bufpool.Buffer
	Err error
}

// Read reads n bytes at off, both multiples of the file's Align. The buffer is
// the caller's, who releases it. Where the file ends before off+n the error is
// io.ErrUnexpectedEOF. If ctx ends first, its error is returned at once; the
// buffer is released when the read comes back.
func (r *Reader) Read(ctx context.Context, off int64, n int) (*bufpool.Buffer, error) {
	return r.read(ctx, forAsLongAsItTakes, off, n)
}

func (r *Reader) read(ctx context.Context, until int64, off int64, n int) (*bufpool.Buffer, error) {
	c := r.newCall(until)
	c.one[0] = Request{Off: off, N: n}
	r.perform(ctx, c, c.one[:])
	buf, err := c.one[0].Buf, c.one[0].Err
	r.end(c)
	return buf, err
}

// ReadMany performs all requests, as many at once as the depth allows, and
// returns when each has its Buf or its Err. If ctx ends, those that are not
// back get ctx.Err(). Buf and Err need not be cleared before.
func (r *Reader) ReadMany(ctx context.Context, reqs []Request) {
	if len(reqs) == 0 {
		return
	}
	c := r.newCall(forAsLongAsItTakes)
	r.perform(ctx, c, reqs)
	r.end(c)
}

// fail gives every request an error.
func fail(reqs []Request, err error) {
	for i := range reqs {
		reqs[i].Buf, reqs[i].Err = nil, err
	}
}

// perform ends when every request has its Buf or Err.
func (r *Reader) perform(ctx context.Context, c *call, reqs []Request) {
	if err := ctx.Err(); err != nil {
		fail(reqs, err)
		return
	}
	now := r.now()
	r.mu.Lock()
	if err := r.refuseCall(c, now); err != nil {
		r.mu.Unlock()
		r.counters.refuse(reqs, err)
		return
	}
	if r.inFlight == 0 {
		r.heard = now
	}
	r.enqueue(c, reqs, now)
	if c.left == 0 {
		r.mu.Unlock()
		return
	}
	r.time(c, now)
	patient := ctx.Done() == nil
	mine := r.takeAlone(c, patient && c.until >= noDeadline)
	r.launch()
	if mine != nil && r.work(mine) == c {
		return
	}
	switch {
	case r.engine.collect(c):
	case patient:
		<-c.wake
	default:
		r.await(ctx, c)
	}
}

// Bytes is the memory that the Reader holds: buffers lent and idle, and what is
// shared with the kernel.
func (r *Reader) Bytes() int64 { return r.pool.Bytes() + r.engine.bytes() }
