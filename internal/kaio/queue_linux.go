package kaio

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's names, from linux/aio_abi.h and fs/aio.c.
const (
	cmdPread      = 0
	flagEventFD   = 1 << 0
	ringMagic     = 0xa10a10a1
	probeTag      = math.MaxUint64
	rwFlagsOffset = 32 // bits
)

// submission is struct iocb.
type submission struct {
	tag     uint64
	rwFlags uint64 // RWF_… in the upper half; the lower is the kernel's
	cmd     uint16
	_       int16
	file    uint32
	addr    uint64
	n       uint64
	off     int64
	_       uint64
	flags   uint32
	eventFD uint32
}

// completion is struct io_event.
type completion struct {
	tag, submission uint64
	res, _          int64
}

// ring is struct aio_ring, which the kernel shares. Completions follow it.
type ring struct {
	_, size         uint32
	head, tail      atomic.Uint32 // below size; the kernel moves tail
	magic           uint32
	_, incompatible uint32
	headerBytes     uint32
}

// The kernel fixes the sizes.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(submission{})-64]
	_ = [1]struct{}{}[unsafe.Sizeof(completion{})-32]
	_ = [1]struct{}{}[unsafe.Sizeof(ring{})-32]
)

// Queue reads one file.
type Queue struct {
	file    int // a descriptor of its own
	eventFD int
	taken   bool // the eventfd is somebody else's to close
	noWait  bool // reads come back rather than wait in Submit

	mask        uint32
	submissions []submission
	places      []*submission // those of all submissions, twice: none of a batch wraps around
	head, tail  atomic.Uint32 // pushed and not taken over by the kernel

	ring        *ring // the kernel knows the queue by its address
	completions []completion
}

// Open returns a queue for reads of file, with room for entries of them, 1 to
// 32768, from Push to Reap. The queue holds the file open by itself. Where there
// is no error, the system is known to take reads of this file without waiting.
func Open(entries int, file uintptr) (*Queue, error) {
	q := &Queue{file: -1, eventFD: -1, noWait: true}
	err := q.setup(entries, file)
	if err == nil {
		err = q.probe()
	}
	if errors.Is(err, unix.EOPNOTSUPP) && onOverlay(q.file) {
		q.Withdraw()
		q.noWait = false
		err = q.probe()
	}
	if err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) setup(entries int, file uintptr) (err error) {
	if q.file, err = unix.FcntlInt(file, unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return fmt.Errorf("libaio: descriptor of the file: %w", err)
	}
	if q.eventFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("libaio: eventfd: %w", err)
	}
	n := ceilPow2(entries)
	q.mask = uint32(n - 1)
	q.submissions = make([]submission, n)
	q.places = make([]*submission, 2*n)
	for i := range q.places {
		q.places[i] = &q.submissions[i%n]
	}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, uintptr(entries), uintptr(unsafe.Pointer(&q.ring)), 0); errno != 0 {
		q.ring = nil
		return fmt.Errorf("io_setup: %w", errno)
	}
	if q.ring.magic != ringMagic || q.ring.incompatible != 0 {
		return fmt.Errorf("libaio: ring %#x, %#x: want %#x, 0", q.ring.magic, q.ring.incompatible, uint32(ringMagic))
	}
	q.completions = unsafe.Slice((*completion)(unsafe.Add(unsafe.Pointer(q.ring), q.ring.headerBytes)), q.ring.size)
	return nil
}

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// probe reads nothing, which is over at once, to see whether the system lets
// itself be asked so: it may lack RWF_NOWAIT, as before Linux 4.13 and on some
// file systems, or forbid io_submit.
func (q *Queue) probe() error {
	q.Push(nil, 0, probeTag)
	if err := q.Submit(); err != nil {
		return err
	}
	if tag, res, ok := q.Reap(); !ok || tag != probeTag || res != 0 {
		return fmt.Errorf("libaio: a read of nothing gave %d (%v)", res, ok)
	}
	return nil
}

// onOverlay reports whether a file is on an overlay, as a container's own files
// are, that lets the file system below read asynchronously: from Linux 5.6 on. It
// has no RWF_NOWAIT.
func onOverlay(file int) bool {
	var fs unix.Statfs_t
	var uname unix.Utsname
	if unix.Fstatfs(file, &fs) != nil || unix.Uname(&uname) != nil {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(uname.Release[:]), "%d.%d", &major, &minor)
	return fs.Type == unix.OVERLAYFS_SUPER_MAGIC && err == nil && (major > 5 || major == 5 && minor >= 6)
}

// MayWait reports whether Submit may wait, as for room in the device's queue.
func (q *Queue) MayWait() bool { return !q.noWait }

// TakeEventFD hands the eventfd over to the caller, who closes it after the last
// Submit. It is non-blocking, and signalled with each completion: a poller that
// looks for edges need not read it.
func (q *Queue) TakeEventFD() int {
	q.taken = true
	return q.eventFD
}

// Push writes a read of len(mem) bytes at off into the queue. The caller makes
// sure that there is room.
func (q *Queue) Push(mem []byte, off int64, tag uint64) {
	tail := q.tail.Load()
	var rwFlags uint64
	if q.noWait {
		rwFlags = unix.RWF_NOWAIT
	}
	q.submissions[tail&q.mask] = submission{
		tag:     tag,
		rwFlags: rwFlags << rwFlagsOffset,
		cmd:     cmdPread,
		file:    uint32(q.file),
		addr:    uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))),
		n:       uint64(len(mem)),
		off:     off,
		flags:   flagEventFD,
		eventFD: uint32(q.eventFD),
	}
	q.tail.Store(tail + 1)
}

// Pushed is the number of reads that the kernel has not taken over yet.
func (q *Queue) Pushed() uint32 { return q.tail.Load() - q.head.Load() }

// Submit hands all pushed reads to the kernel, and does not wait for them, nor,
// unless MayWait, for anything else. An error of EAGAIN passes by itself; others are
// faults of the queue, or of the first read that was not taken over.
func (q *Queue) Submit() error {
	for {
		n := q.Pushed()
		if n == 0 {
			return nil
		}
		batch := q.places[q.head.Load()&q.mask:][:n]
		taken, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, q.id(), uintptr(n), uintptr(unsafe.Pointer(&batch[0])))
		if errno != 0 {
			return fmt.Errorf("io_submit: %w", errno)
		}
		q.head.Add(uint32(taken))
	}
}

// id is the kernel's name of the queue.
func (q *Queue) id() uintptr { return uintptr(unsafe.Pointer(q.ring)) }

// Withdraw takes back what was pushed and that the kernel has not taken over, and
// returns the tags. No Push or Submit may run meanwhile.
func (q *Queue) Withdraw() []uint64 {
	var tags []uint64
	head, tail := q.head.Load(), q.tail.Load()
	for i := head; i != tail; i++ {
		tags = append(tags, q.submissions[i&q.mask].tag)
	}
	q.tail.Store(head)
	return tags
}

// Reap takes the oldest completion, if there is one. The result is the number of
// bytes read, 0 at the end of the file, or a negative errno.
func (q *Queue) Reap() (tag uint64, res int32, ok bool) {
	if !q.Ready() {
		return 0, 0, false
	}
	head := q.ring.head.Load()
	c := q.completions[head]
	if head++; head == q.ring.size {
		head = 0
	}
	q.ring.head.Store(head)
	return c.tag, int32(c.res), true // at most 2 GiB are read at a time
}

// Ready reports whether a completion waits to be reaped.
func (q *Queue) Ready() bool { return q.ring.tail.Load() != q.ring.head.Load() }

// Polled reports that completions come to Ready by themselves: an interrupt puts them
// into the memory that is shared.
func (q *Queue) Polled() bool { return true }

// Bytes is the memory that the queue takes.
func (q *Queue) Bytes() int64 {
	const each = unsafe.Sizeof(submission{}) + 2*unsafe.Sizeof(&submission{})
	return int64(len(q.submissions))*int64(each) + int64(len(q.completions))*int64(unsafe.Sizeof(completion{}))
}

// Close ends the queue. Nothing may be in flight, and no other method runs or is
// called later.
func (q *Queue) Close() error {
	var errs []error
	if q.ring != nil {
		if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, q.id(), 0, 0); errno != 0 {
			errs = append(errs, fmt.Errorf("io_destroy: %w", errno))
		}
	}
	if q.file >= 0 {
		errs = append(errs, unix.Close(q.file))
	}
	if q.eventFD >= 0 && !q.taken {
		errs = append(errs, unix.Close(q.eventFD))
	}
	q.ring, q.completions, q.file, q.eventFD = nil, nil, -1, -1
	return errors.Join(errs...)
}
