package vfstest

import (
	"fmt"
	"math"
	"slices"
)

const (
	sectorSize = 512  // the unit that a disk writes whole or not at all
	blockSize  = 4096 // the page of the cache, and the unit of space
)

// block is one block's content. It is never changed: a write makes another, so
// that clones share them. nil is a block of zeros that occupies nothing.
type block *[blockSize]byte

// node is a file without its name.
type node struct {
	id         uint64
	stable     map[int64]block // the blocks as they were synced, by their number
	dirty      map[int64]dirty // those that were written since
	size       int64
	stableSize int64
	sizes      []sizeVersion // since the sync, oldest first
	reserved   int64         // blocks from the beginning that Allocate took
	charged    int64         // blocks that count against the quota
	users      int           // open files
}

// dirty is a block that was written since it was synced.
//
// Invariants: versions is never empty, and its array is never written again, so
// that clones share it; a read sees the last version.
type dirty struct {
	versions []version // oldest first; of many, the last maxVersions
	lost     bool      // a sync failed: the next one will not write it, as Linux does
}

// maxVersions bounds the memory of a block that is written again and again.
const maxVersions = 8

type version struct {
	at   moment
	data block
}

type sizeVersion struct {
	at   moment
	size int64
}

func newNode(id uint64) *node {
	return &node{id: id, stable: map[int64]block{}, dirty: map[int64]dirty{}}
}

// at is the content of a block as a read sees it.
func (n *node) at(i int64) block {
	if d, ok := n.dirty[i]; ok {
		return d.versions[len(d.versions)-1].data
	}
	return n.stable[i]
}

// put is a write of one block.
func (n *node) put(i int64, b block, at moment) {
	old := n.dirty[i].versions
	old = old[max(0, len(old)-maxVersions+1):]
	n.dirty[i] = dirty{versions: append(slices.Clip(old), version{at, b})}
}

func (n *node) setSize(size int64, at moment) {
	if size == n.size {
		return
	}
	n.size = size
	n.sizes = append(n.sizes, sizeVersion{at, size})
}

// read copies bytes from off on; after the end of the file there are zeros.
func (n *node) read(p []byte, off int64) {
	for len(p) > 0 {
		in := off % blockSize
		k := min(len(p), int(blockSize-in))
		if b := n.at(off / blockSize); b != nil {
			copy(p[:k], b[in:])
		} else {
			clear(p[:k])
		}
		p, off = p[k:], off+int64(k)
	}
}

// writeBlock changes a part of one block from byte in on.
func (n *node) writeBlock(i, in int64, p []byte, at moment) {
	next := new([blockSize]byte)
	if old := n.at(i); old != nil && len(p) < blockSize {
		*next = *old
	}
	copy(next[in:], p)
	n.put(i, next, at)
}

// truncate sets the size. Invariant: bytes after the end are zeros.
func (n *node) truncate(size int64, at moment) {
	if size < n.size {
		for _, i := range n.blocks() {
			if start := i * blockSize; start >= size {
				n.put(i, nil, at)
			} else if end := size - start; end < blockSize {
				n.writeBlock(i, end, make([]byte, blockSize-end), at)
			}
		}
		n.reserved = min(n.reserved, blocksOf(size))
	}
	n.setSize(size, at)
}

// blocks are the numbers of the blocks that a read sees as other than a hole, in order.
func (n *node) blocks() []int64 {
	var list []int64
	for i := range n.stable {
		if n.at(i) != nil {
			list = append(list, i)
		}
	}
	for i := range n.dirty {
		if n.stable[i] == nil && n.at(i) != nil {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}

// sync makes the state that a read sees the stable one, except for blocks that a failed
// sync gave up.
func (n *node) sync() {
	for i, d := range n.dirty {
		if !d.lost {
			n.settle(i, d.versions[len(d.versions)-1].data)
		}
	}
	n.stableSize, n.sizes = n.size, nil
}

// settle makes b the stable state of a block.
func (n *node) settle(i int64, b block) {
	delete(n.dirty, i)
	if b == nil {
		delete(n.stable, i)
	} else {
		n.stable[i] = b
	}
}

// failSync gives up the unsynced bytes: they can be read until the machine fails,
// and no later sync keeps them.
func (n *node) failSync() {
	for i, d := range n.dirty {
		d.lost = true
		n.dirty[i] = d
	}
}

// recount counts the blocks that the file occupies anew, and returns the change.
func (n *node) recount() int64 {
	old := n.charged
	n.charged = n.reserved
	for _, i := range n.blocks() {
		if i >= n.reserved {
			n.charged++
		}
	}
	return n.charged - old
}

// setBytes makes b the file, synced.
func (n *node) setBytes(b []byte) {
	clear(n.stable)
	clear(n.dirty)
	for i := 0; i < len(b); i += blockSize {
		next := new([blockSize]byte)
		copy(next[:], b[i:])
		n.stable[int64(i/blockSize)] = next
	}
	n.size, n.stableSize, n.sizes, n.reserved = int64(len(b)), int64(len(b)), nil, 0
}

// flip inverts a bit in every version of its block.
func (n *node) flip(bit int64) {
	i, in := bit/8/blockSize, bit/8%blockSize
	inverted := func(b block) block {
		next := new([blockSize]byte)
		if b != nil {
			*next = *b
		}
		next[in] ^= 1 << (bit % 8)
		return next
	}
	if d, ok := n.dirty[i]; ok {
		d.versions = slices.Clone(d.versions)
		for j, v := range d.versions {
			d.versions[j].data = inverted(v.data)
		}
		n.dirty[i] = d
	}
	n.stable[i] = inverted(n.stable[i])
}

// blocksOf is how many blocks so many bytes need.
func blocksOf(size int64) int64 {
	if size > math.MaxInt64-blockSize {
		return math.MaxInt64 / blockSize
	}
	return (size + blockSize - 1) / blockSize
}

// CheckSpace recounts the blocks of every file, and compares with the charge.
func (m *Mem) CheckSpace() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum int64
	for _, n := range m.names {
		before := n.charged
		if change := n.recount(); change != 0 {
			return fmt.Errorf("file %d is charged %d blocks, has %d", n.id, before, n.charged)
		}
		sum += n.charged
	}
	if sum != m.used {
		return fmt.Errorf("%d blocks are charged, files have %d", m.used, sum)
	}
	return nil
}
