package vfs

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// keptMemory is memory that outlives the process: an attached segment.
type keptMemory struct {
	id  MemoryID
	dir directory

	mu      sync.Mutex
	segment []byte // nil: closed
}

// NewMemory implements MemoryKeeper.
func (d osFS) NewMemory(size int64) (Memory, error) {
	if err := CheckMemorySize(string(d), size); err != nil {
		return nil, err
	}
	dir, err := d.directory()
	if err != nil {
		return nil, err
	}
	removeLeft(dir.has)
	scanForLost()
	id, segment, err := dir.newSegment(size)
	if err != nil {
		return nil, pathError(opNewMemory, dir.path, fmt.Errorf("%w: %d bytes: %w", ErrNoKeptMemory, size, err))
	}
	return keep(id, dir, segment), nil
}

// OpenMemory implements MemoryKeeper.
func (d osFS) OpenMemory(id MemoryID) (Memory, error) {
	dir, err := d.directory()
	if err != nil {
		return nil, err
	}
	segment, attached, err := dir.attach(id, 0)
	if err == nil && attached > 1 && !becomesOnly(int(id.Handle)) {
		_ = unix.SysvShmDetach(segment)
		err = ErrLocked
	}
	if err != nil {
		return nil, pathError(opOpenMemory, dir.path, fmt.Errorf("memory %d: %w", id.Handle, err))
	}
	dir.notePlace(segment)
	return keep(id, dir, segment), nil
}

// becomesOnly reports whether this process is soon the only one that has a segment.
// Another may have it for a moment: one that looks for lost segments, or one that reads
// in /proc about the process that was killed, whose memory it keeps meanwhile.
func becomesOnly(handle int) bool {
	const looks, pause = 50, time.Millisecond
	for range looks {
		time.Sleep(pause)
		if attached, err := statSegment(handle, 0); err == nil && attached == 1 {
			return true
		}
	}
	return false
}

// keep advises on memory: a core dump is for what the program did, and would be as
// large as the memory; huge pages are a wish.
func keep(id MemoryID, dir directory, segment []byte) *keptMemory {
	_ = unix.Madvise(segment, unix.MADV_DONTDUMP)
	_ = unix.Madvise(segment, unix.MADV_HUGEPAGE)
	return &keptMemory{id: id, dir: dir, segment: segment}
}

func (m *keptMemory) ID() MemoryID { return m.id }

func (m *keptMemory) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segment == nil {
		return nil
	}
	return m.segment[os.Getpagesize():]
}

func (m *keptMemory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segment == nil {
		return nil
	}
	err := unix.SysvShmDetach(m.segment)
	m.segment = nil
	return os.NewSyscallError("shmdt", err)
}

func (m *keptMemory) Leave(own func() error) error {
	m.mu.Lock()
	closed := m.segment == nil
	m.mu.Unlock()
	if closed {
		return nil
	}
	if err := own(); err != nil {
		return err
	}
	return m.Close() // which detaches what is left of the segment: its first page
}

// Remove removes a segment that is attached: until it is detached, its handle stands
// for no other.
func (m *keptMemory) Remove() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segment != nil {
		return removeSegment(int(m.id.Handle))
	}
	segment, _, err := m.dir.attach(m.id, 0)
	if err != nil {
		return nil // it is gone
	}
	defer func() { _ = unix.SysvShmDetach(segment) }()
	return removeSegment(int(m.id.Handle))
}

// directory is the identity of a directory: a copy of it has another.
type directory struct {
	path     string
	dev, ino uint64
}

func (d osFS) directory() (directory, error) {
	var st unix.Stat_t
	if err := unix.Stat(string(d), &st); err != nil {
		return directory{}, &fs.PathError{Op: "stat", Path: string(d), Err: err}
	}
	return directory{string(d), uint64(st.Dev), st.Ino}, nil //nolint:unconvert // the types differ between systems
}
