package vfstest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/vfs"
)

// Mem is a file system in memory for tests. It knows which bytes are synced, so
// that CrashClone can make the state that a killed process or a power cut leaves.
//
// Names and contents are synced apart: File.Sync keeps the bytes of a file,
// SyncDir keeps that it has its name.
type Mem struct {
	mu     sync.RWMutex
	names  map[string]*node // the directory as the process sees it
	stable map[string]*node // as it was at the last SyncDir
	steps  []dirStep        // the changes of the directory since
	locks  map[string]*memLock
	kept   map[vfs.MemoryID]*memKept // memory that outlives the process
	noKept bool                      // the system has none
	moment moment
	nodes  uint64 // made so far
	used   int64  // blocks that files with a name or a user occupy
	quota  int64  // blocks; 0: none
	align  int    // of direct I/O; 0: none
}

// moment counts the changes of a Mem: the order in which they happened.
type moment uint64

// unlimited is the free space at the beginning where there is no quota, in bytes.
const unlimited = 1 << 50

// NewMem returns an empty directory without a quota, whose direct I/O wants
// multiples of 512 bytes.
func NewMem() *Mem {
	return &Mem{names: map[string]*node{}, stable: map[string]*node{}, locks: map[string]*memLock{},
		kept: map[vfs.MemoryID]*memKept{}, align: sectorSize}
}

// SetQuota limits the space of all files to so many bytes, in blocks of 4 KiB;
// 0 takes the limit away. Files that exist stay.
func (m *Mem) SetQuota(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.quota = bytes / blockSize
	if bytes > 0 {
		m.quota = max(m.quota, 1)
	}
}

// SetDirect sets the alignment that direct I/O wants, a power of two; a misaligned
// call panics. With 0, Open with OpenOptions.Direct is ErrNoDirect.
func (m *Mem) SetDirect(align int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.align = align
}

// Open implements FS.
func (m *Mem) Open(name string, opts vfs.OpenOptions) (vfs.File, error) {
	if err := vfs.CheckName("open", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	align := 1
	if opts.Direct {
		align = m.align
	}
	if align == 0 {
		return nil, pathError("open", name, vfs.ErrNoDirect)
	}
	n := m.names[name]
	if n == nil && !opts.Create {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	if n == nil {
		n = m.create(name)
	}
	n.users++
	return &memFile{mem: m, node: n, name: name, readOnly: opts.ReadOnly, align: align}, nil
}

// create makes an empty file.
func (m *Mem) create(name string) *node {
	m.nodes++
	n := newNode(m.nodes)
	m.step(dirStep{to: name, node: n})
	return n
}

// Remove implements FS. A file that is open lives on without a name.
func (m *Mem) Remove(name string) error {
	if err := vfs.CheckName("remove", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[name]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	m.step(dirStep{from: name, node: n})
	m.drop(n)
	return nil
}

// Rename implements FS.
func (m *Mem) Rename(oldName, newName string) error {
	if err := errors.Join(vfs.CheckName("rename", oldName), vfs.CheckName("rename", newName)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, replaced := m.names[oldName], m.names[newName]
	if n == nil {
		return pathError("rename", oldName, fs.ErrNotExist)
	}
	if n == replaced {
		return nil
	}
	m.step(dirStep{from: oldName, to: newName, node: n})
	if replaced != nil {
		m.drop(replaced)
	}
	return nil
}

// step changes the directory, and remembers the change until SyncDir.
func (m *Mem) step(s dirStep) {
	s.apply(m.names)
	m.steps = append(m.steps, s)
}

// drop takes a name, or with users-- a user, from a file, whose space is free
// when it has neither.
func (m *Mem) drop(n *node) {
	if n.users > 0 {
		return
	}
	for _, other := range m.names {
		if other == n {
			return
		}
	}
	m.used -= n.charged
	n.charged = 0
}

// List implements FS.
func (m *Mem) List() ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.names)), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stable = maps.Clone(m.names)
	m.steps = nil
	return nil
}

// Free implements FS: the rest of the quota, or much.
func (m *Mem) Free() (int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.free() * blockSize, nil
}

// free is the number of free blocks.
func (m *Mem) free() int64 {
	quota := m.quota
	if quota == 0 {
		quota = unlimited / blockSize
	}
	return max(0, quota-m.used)
}

// charge takes so many blocks more for a file, or gives them back.
func (m *Mem) charge(n *node, blocks int64) bool {
	if blocks > m.free() {
		return false
	}
	m.used += blocks
	n.charged += blocks
	return true
}

// memLock is held while it is the one that Mem.locks names.
type memLock struct {
	mem  *Mem
	name string
}

// Lock implements FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	if err := vfs.CheckName("lock", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] != nil {
		return nil, pathError("lock", name, vfs.ErrLocked)
	}
	if m.names[name] == nil {
		m.create(name)
	}
	l := &memLock{mem: m, name: name}
	m.locks[name] = l
	return l, nil
}

// Close gives the lock back; the second time it does nothing.
func (l *memLock) Close() error {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	if l.mem.locks[l.name] == l {
		delete(l.mem.locks, l.name)
	}
	return nil
}

// Bytes is a copy of a file's bytes.
func (m *Mem) Bytes(name string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := m.names[name]
	if n == nil {
		return nil, pathError("read", name, fs.ErrNotExist)
	}
	b := make([]byte, n.size)
	n.read(b, 0)
	return b, nil
}

// SetBytes makes b the bytes of a file, past quota and sync: they count as
// synced, and so does the directory. It makes the file if there is none, and
// works on open ones.
func (m *Mem) SetBytes(name string, b []byte) error {
	if err := vfs.CheckName("write", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[name]
	if n == nil {
		m.nodes++
		n = newNode(m.nodes)
		m.names[name] = n
	}
	m.stable, m.steps = maps.Clone(m.names), nil
	n.setBytes(b)
	m.used += n.recount()
	return nil
}

// Flip inverts one bit of a file, as a broken disk would: bit 0 is the lowest
// bit of the first byte.
func (m *Mem) Flip(name string, bit int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[name]
	if n == nil {
		return pathError("write", name, fs.ErrNotExist)
	}
	if bit < 0 || bit/8 >= n.size {
		return pathError("write", name, fmt.Errorf("bit %d of %d bytes: %w", bit, n.size, fs.ErrInvalid))
	}
	n.flip(bit)
	m.used += n.recount()
	return nil
}

// Dump is a copy of all files.
func (m *Mem) Dump() map[string][]byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	files := make(map[string][]byte, len(m.names))
	for name, n := range m.names {
		files[name] = make([]byte, n.size)
		n.read(files[name], 0)
	}
	return files
}

// Restore makes these files, and no others, the synced state of the directory.
// Files that are open lose their names; locks stay.
func (m *Mem) Restore(files map[string][]byte) error {
	m.mu.Lock()
	gone := m.names
	m.names, m.stable, m.steps = map[string]*node{}, map[string]*node{}, nil
	for _, n := range gone {
		m.drop(n)
	}
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := m.SetBytes(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
