package aio

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/kaio"
	"github.com/firncache/firn/internal/uring"
)

// kernelQueue hands reads to the kernel, and takes back their completions:
// a uring.Ring or a kaio.Queue.
type kernelQueue interface {
	// Push queues a read; at most Config.Depth are between Push and Reap.
	Push(mem []byte, off int64, tag uint64)
	// Pushed is the number of reads that the kernel has not taken over.
	Pushed() uint32
	// Submit lets the kernel take over all that was pushed.
	Submit() error
	// MayWait reports whether Submit may wait for the disk.
	MayWait() bool
	// Withdraw takes back reads that the kernel has not taken over.
	Withdraw() (tags []uint64)
	// Ready reports whether Reap has something.
	Ready() bool
	// Reap takes a completion: bytes read, or a negative errno.
	Reap() (tag uint64, res int32, ok bool)
	// Polled reports whether completions come while no thread enters the kernel.
	Polled() bool
	// TakeEventFD hands over the eventfd that each completion signals.
	TakeEventFD() int
	Bytes() int64
	Close() error
}

var (
	errNoDescriptor = errors.New("the file has no descriptor to read by")
	errMayWait      = errors.New("io_submit may wait for the disk")
)

func openRing(r *Reader) (engine, error) {
	fd, ok := r.file.Fd()
	if !ok {
		return nil, errNoDescriptor
	}
	u, err := uring.Open(r.depth, fd)
	if err != nil {
		return nil, err
	}
	return newRing(r, u, "io_uring")
}

// openPollable opens libaio unless it needs a goroutine for its submissions.
func openPollable(r *Reader) (engine, error) {
	e, err := openLibAIO(r)
	if g, ok := e.(*ring); ok && g.q.MayWait() {
		g.close()
		return nil, errMayWait
	}
	return e, err
}

func openLibAIO(r *Reader) (engine, error) {
	fd, ok := r.file.Fd()
	if !ok {
		return nil, errNoDescriptor
	}
	q, err := kaio.Open(r.depth, fd)
	if err != nil {
		return nil, err
	}
	return newRing(r, q, "libaio")
}

// direct reports whether the file was opened with O_DIRECT.
func (r *Reader) direct() bool {
	fd, ok := r.file.Fd()
	if !ok {
		return false
	}
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	return err == nil && flags&unix.O_DIRECT != 0
}
