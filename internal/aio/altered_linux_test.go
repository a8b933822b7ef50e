package aio

import (
	"encoding/binary"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/kaio"
	"github.com/firncache/firn/internal/uring"
	"github.com/firncache/firn/internal/vfs"
)

// altered is a queue of the kernel's, but for what a test makes of it. Its
// functions are set before it is opened.
type altered struct {
	kernelQueue
	most   int                               // bytes of a read that reach the kernel at once; 0: all
	pushed func(mem []byte, off int64)       // sees each read
	submit func() error                      // asked before each submission
	waits  bool                              // what MayWait says
	result func(res int32) int32             // makes another result of one
	stuck  func(off int64) (comesLater bool) // which reads do not come back before release
	silent bool                              // the eventfd says nothing of completions
	polls  func() (sees bool)                // called by whoever looks for completions

	ring   *ring
	mu     sync.Mutex
	offs   map[uint64]int64 // of the reads in the kernel, by tag
	kept   []came           // what is stuck
	freed  bool             // release was called
	closed bool
}

// came is a completion.
type came struct {
	tag uint64
	res int32
}

// alter gives a reader, on which nothing was called, the engine of a mode with
// a queue that is altered.
func alter(t *testing.T, r *Reader, mode Mode, a *altered) {
	t.Helper()
	fd, _ := r.file.Fd()
	var err error
	if mode == Ring {
		a.kernelQueue, err = uring.Open(r.depth, fd)
	} else {
		a.kernelQueue, err = kaio.Open(r.depth, fd)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.offs = map[uint64]int64{}
	if a.ring, err = newRing(r, a, modeNames[mode]); err != nil {
		t.Fatal(err)
	}
	r.engine = a.ring
}

// inRings runs a test with each engine that has a queue of the kernel's.
func inRings(t *testing.T, test func(t *testing.T, mode Mode)) {
	for _, mode := range []Mode{Ring, LibAIO} {
		t.Run(modeNames[mode], func(t *testing.T) {
			if available(t, mode) {
				test(t, mode)
			}
		})
	}
}

// openAltered is open with an altered engine.
func openAltered(t *testing.T, f vfs.File, mode Mode, depth int, a *altered) *Reader {
	t.Helper()
	r := open(t, Config{File: f, Mode: Pread, Depth: depth})
	alter(t, r, mode, a)
	return r
}

// release lets come back what was stuck.
func (a *altered) release(t *testing.T) {
	a.mu.Lock()
	a.freed = true
	a.mu.Unlock()
	if _, err := a.ring.event.Write(binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
		t.Error(err)
	}
}

func (a *altered) Push(mem []byte, off int64, tag uint64) {
	a.mu.Lock()
	a.offs[tag] = off
	a.mu.Unlock()
	if a.pushed != nil {
		a.pushed(mem, off)
	}
	if a.most > 0 {
		mem = mem[:min(a.most, len(mem))]
	}
	a.kernelQueue.Push(mem, off, tag)
}

func (a *altered) Submit() error {
	if a.submit != nil {
		if err := a.submit(); err != nil {
			return err
		}
	}
	return a.kernelQueue.Submit()
}

func (a *altered) MayWait() bool { return a.waits || a.kernelQueue.MayWait() }

// TakeEventFD gives another eventfd if the queue's shall be silent.
func (a *altered) TakeEventFD() int {
	fd := a.kernelQueue.TakeEventFD()
	if !a.silent {
		return fd
	}
	unix.Close(fd)
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		panic(err)
	}
	return fd
}

func (a *altered) Ready() bool {
	if a.polls != nil && !a.polls() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.freed && len(a.kept) > 0 || a.kernelQueue.Ready()
}

func (a *altered) Reap() (tag uint64, res int32, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.freed && len(a.kept) > 0 {
		c := a.kept[0]
		a.kept = a.kept[1:]
		return c.tag, c.res, true
	}
	for {
		tag, res, ok = a.kernelQueue.Reap()
		switch {
		case ok && a.stuck != nil && !a.freed && a.stuck(a.offs[tag]):
			a.kept = append(a.kept, came{tag, res})
			continue
		case ok && a.result != nil:
			res = a.result(res)
		}
		return tag, res, ok
	}
}

func (a *altered) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	return a.kernelQueue.Close()
}

func (a *altered) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}
