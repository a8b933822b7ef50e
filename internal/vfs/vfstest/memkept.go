package vfstest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"sync/atomic"

	"github.com/firncache/firn/internal/vfs"
)

// memKept is memory of a Mem that outlives the process: CrashClone copies it for a
// Kill, and leaves it out for a PowerCut.
type memKept struct {
	id    vfs.MemoryID
	bytes []byte
	users int // how often it is open
}

// memMemory is memKept that is open.
type memMemory struct {
	mem    *Mem
	kept   *memKept
	bytes  []byte
	closed bool // guarded by Mem.mu
}

// SetMemory sets whether the system has memory that outlives the process, as it has
// at first. What there is stays, and is not found meanwhile.
func (m *Mem) SetMemory(has bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noKept = !has
}

// NewMemory implements MemoryKeeper. Its space does not count against the quota.
func (m *Mem) NewMemory(size int64) (vfs.Memory, error) {
	if err := vfs.CheckMemorySize(".", size); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noKept || size > math.MaxInt/2 {
		return nil, pathError(OpNewMemory.String(), ".", vfs.ErrNoKeptMemory)
	}
	maps.DeleteFunc(m.kept, func(_ vfs.MemoryID, k *memKept) bool { return k.users == 0 })
	n := keptMade.Add(1)
	k := newKept(vfs.MemoryID{Handle: n, Key: ^n}, int(size))
	k.users++
	m.kept[k.id] = k
	return &memMemory{mem: m, kept: k, bytes: k.bytes}, nil
}

// keptMade counts the memory of every Mem: IDs of one are not found in another.
var keptMade atomic.Uint64

// newKept makes memory of whole pages.
func newKept(id vfs.MemoryID, size int) *memKept {
	page := os.Getpagesize()
	return &memKept{id: id, bytes: vfs.Aligned((size+page-1)&^(page-1), page)[:size]}
}

// keptByKill is a copy of the memory as it is at one instant, under the lock: no
// write to a file ends meanwhile.
func (m *Mem) keptByKill() map[vfs.MemoryID]*memKept {
	copies := map[vfs.MemoryID]*memKept{}
	var to, from [][]byte
	for id, k := range m.kept {
		c := newKept(id, len(k.bytes))
		copies[id] = c
		to, from = append(to, c.bytes[:cap(c.bytes)]), append(from, k.bytes[:cap(k.bytes)])
	}
	atInstant(to, from)
	return copies
}

// copyKept is a copy of memory as it is at one instant.
func copyKept(k *memKept) *memKept {
	c := newKept(k.id, len(k.bytes))
	atInstant([][]byte{c.bytes[:cap(c.bytes)]}, [][]byte{k.bytes[:cap(k.bytes)]})
	return c
}

// OpenMemory implements MemoryKeeper.
func (m *Mem) OpenMemory(id vfs.MemoryID) (vfs.Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.kept[id]
	var err error
	switch {
	case m.noKept:
		err = errors.Join(fs.ErrNotExist, vfs.ErrNoKeptMemory)
	case k == nil:
		err = fs.ErrNotExist
	case k.users > 0:
		err = vfs.ErrLocked
	}
	if err != nil {
		return nil, pathError(OpOpenMemory.String(), ".", fmt.Errorf("memory %d: %w", id.Handle, err))
	}
	k.users++
	return &memMemory{mem: m, kept: k, bytes: k.bytes}, nil
}

func (m *memMemory) ID() vfs.MemoryID { return m.kept.id }

func (m *memMemory) Bytes() []byte {
	m.mem.mu.RLock()
	defer m.mem.mu.RUnlock()
	if m.closed {
		return nil
	}
	return m.bytes[:len(m.bytes):len(m.bytes)]
}

// Leave has the next owner find a copy: what this one does to the bytes from now on it does
// for itself.
func (m *memMemory) Leave(func() error) error {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.kept.users--
		m.kept.bytes = copyKept(m.kept).bytes
	}
	return nil
}

func (m *memMemory) Close() error {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.kept.users--
	}
	return nil
}

func (m *memMemory) Remove() error {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	delete(m.mem.kept, m.kept.id)
	return nil
}
