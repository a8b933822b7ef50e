package uring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's names, from linux/io_uring.h.
const (
	setupCQSize    = 1 << 3
	setupSubmitAll = 1 << 7

	featSingleMmap    = 1 << 0
	featNoDrop        = 1 << 1
	featSubmitStable  = 1 << 2
	featNativeWorkers = 1 << 9 // Linux 5.12

	offRing = 0
	offSQEs = 0x10000000

	registerFiles   = 2
	registerEventFD = 4

	opRead       = 22
	sqeFixedFile = 1 << 0
)

// needed are the features that a kernel must have: completions are never dropped,
// submissions may be reused once submitted, reads that have to block do so in threads
// of the process, which die with it.
const needed = featSingleMmap | featNoDrop | featSubmitStable | featNativeWorkers

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sq                                                                     struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// submission is struct io_uring_sqe.
type submission struct {
	op     uint8
	flags  uint8
	ioprio uint16
	fd     int32
	off    uint64
	addr   uint64
	n      uint32
	rw     uint32
	tag    uint64
	_      [3]uint64
}

// completion is struct io_uring_cqe.
type completion struct {
	tag uint64
	res int32
	_   uint32
}

// The kernel fixes the sizes.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(params{})-120]
	_ = [1]struct{}{}[unsafe.Sizeof(submission{})-64]
	_ = [1]struct{}{}[unsafe.Sizeof(completion{})-16]
)

// Ring reads one file.
type Ring struct {
	fd      int
	eventFD int
	mapped  []byte // head and tail of both queues, and the completions
	sqes    []byte // the submissions

	sqHead, sqTail *atomic.Uint32
	sqMask         uint32
	submissions    []submission
	cqHead, cqTail *atomic.Uint32
	cqMask         uint32
	completions    []completion
}

// Open returns a ring for reads of file with room for entries submissions,
// 1 to 32768, and twice as many completions. The ring holds the file open by
// itself.
func Open(entries int, file uintptr) (*Ring, error) {
	p := params{flags: setupCQSize | setupSubmitAll}
	u := &Ring{fd: -1, eventFD: -1}
	if err := u.setup(entries, &p); err != nil {
		u.Close()
		return nil, err
	}
	if err := u.register(int32(file)); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

func (u *Ring) setup(entries int, p *params) error {
	p.cqEntries = uint32(2 * ceilPow2(entries))
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	if errno == unix.EINVAL { // before Linux 5.18
		p.flags &^= setupSubmitAll
		fd, _, errno = unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	}
	if errno != 0 {
		return fmt.Errorf("io_uring_setup: %w", errno)
	}
	u.fd = int(fd)
	if p.features&needed != needed {
		return fmt.Errorf("io_uring: features %#x: want all of %#x, as of Linux 5.12", p.features, needed)
	}
	return u.mmap(p)
}

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func (u *Ring) mmap(p *params) error {
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	var err error
	if u.mapped, err = unix.Mmap(u.fd, offRing, int(size), prot, flags); err != nil {
		return fmt.Errorf("io_uring: mmap of the queues: %w", err)
	}
	if u.sqes, err = unix.Mmap(u.fd, offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(submission{})), prot, flags); err != nil {
		return fmt.Errorf("io_uring: mmap of the submissions: %w", err)
	}
	base := unsafe.Pointer(unsafe.SliceData(u.mapped))
	word := func(off uint32) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Add(base, off)) }
	u.sqHead, u.sqTail, u.sqMask = word(p.sq.head), word(p.sq.tail), word(p.sq.mask).Load()
	u.cqHead, u.cqTail, u.cqMask = word(p.cq.head), word(p.cq.tail), word(p.cq.mask).Load()
	u.submissions = unsafe.Slice((*submission)(unsafe.Pointer(unsafe.SliceData(u.sqes))), p.sqEntries)
	u.completions = unsafe.Slice((*completion)(unsafe.Add(base, p.cq.cqes)), p.cqEntries)
	for i := range p.sqEntries { // place i of the queue always means submission i
		word(p.sq.array + 4*i).Store(i)
	}
	return nil
}

// register gives the ring the file, and an eventfd that completions signal.
func (u *Ring) register(file int32) error {
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(u.fd), registerFiles, uintptr(unsafe.Pointer(&file)), 1, 0, 0); errno != 0 {
		return fmt.Errorf("io_uring: registering the file: %w", errno)
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("io_uring: eventfd: %w", err)
	}
	u.eventFD = fd
	event := int32(fd)
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(u.fd), registerEventFD, uintptr(unsafe.Pointer(&event)), 1, 0, 0); errno != 0 {
		return fmt.Errorf("io_uring: registering the eventfd: %w", errno)
	}
	return nil
}

// TakeEventFD hands the eventfd over to the caller, who closes it. It is
// non-blocking, and signalled with each completion: a poller that looks for
// edges need not read it.
func (u *Ring) TakeEventFD() int {
	fd := u.eventFD
	u.eventFD = -1
	return fd
}

// Push writes a read of len(mem) bytes at off into the submission queue. The
// caller makes sure that there is room: no more reads are between Push and
// their completion than the ring has entries.
func (u *Ring) Push(mem []byte, off int64, tag uint64) {
	tail := u.sqTail.Load()
	s := &u.submissions[tail&u.sqMask]
	*s = submission{
		op:    opRead,
		flags: sqeFixedFile,
		fd:    0,
		off:   uint64(off),
		addr:  uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))),
		n:     uint32(len(mem)),
		tag:   tag,
	}
	u.sqTail.Store(tail + 1)
}

// Pushed is the number of reads that the kernel has not taken over yet.
func (u *Ring) Pushed() uint32 { return u.sqTail.Load() - u.sqHead.Load() }

// MayWait reports whether Submit may wait: it never does.
func (u *Ring) MayWait() bool { return false }

// Submit hands all pushed reads to the kernel, and does not wait for them. An
// error of EAGAIN, EBUSY or ENOMEM passes by itself; others are faults of the ring.
func (u *Ring) Submit() error {
	for {
		n := u.Pushed()
		if n == 0 {
			return nil
		}
		_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(u.fd), uintptr(n), 0, 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("io_uring_enter: %w", errno)
		}
	}
}

// Withdraw takes back what was pushed and that the kernel has not taken over, and
// returns the tags. No Push or Submit may run meanwhile.
func (u *Ring) Withdraw() []uint64 {
	var tags []uint64
	head, tail := u.sqHead.Load(), u.sqTail.Load()
	for i := head; i != tail; i++ {
		tags = append(tags, u.submissions[i&u.sqMask].tag)
	}
	u.sqTail.Store(head)
	return tags
}

// Reap takes the oldest completion, if there is one. The result is the number of
// bytes read, 0 at the end of the file, or a negative errno.
func (u *Ring) Reap() (tag uint64, res int32, ok bool) {
	if !u.Ready() {
		return 0, 0, false
	}
	head := u.cqHead.Load()
	c := u.completions[head&u.cqMask]
	u.cqHead.Store(head + 1)
	return c.tag, c.res, true
}

// Ready reports whether a completion waits to be reaped.
func (u *Ring) Ready() bool { return u.cqTail.Load() != u.cqHead.Load() }

// Polled reports that completions need the thread that submitted the read: the kernel
// ends a read of O_DIRECT when that enters it next, or is interrupted for it.
func (u *Ring) Polled() bool { return false }

// Bytes is the memory that the queues take.
func (u *Ring) Bytes() int64 { return int64(len(u.mapped) + len(u.sqes)) }

// Close ends the ring. Nothing may be in flight, and no other method runs or
// is called later.
func (u *Ring) Close() error {
	var errs []error
	for _, m := range [][]byte{u.mapped, u.sqes} {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	for _, fd := range []int{u.eventFD, u.fd} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	u.mapped, u.sqes, u.fd, u.eventFD = nil, nil, -1, -1
	return errors.Join(errs...)
}
