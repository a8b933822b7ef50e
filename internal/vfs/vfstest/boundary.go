package vfstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/vfs"
)

// Boundary is a moment of a scenario at which it may crash: before an operation
// that changes something, inside a write, or at the end.
type Boundary struct {
	N    int // from 0
	Op   Op  // the operation that comes next; Kind is 0 at the end
	Torn int // bytes of that write which have reached the file

	mem *Mem
}

func (b Boundary) String() string {
	switch {
	case b.Op.Kind == 0:
		return fmt.Sprintf("boundary %d: at the end", b.N)
	case b.Torn > 0:
		return fmt.Sprintf("boundary %d: %d bytes into operation %d, %v", b.N, b.Torn, b.Op.N, b.Op)
	}
	return fmt.Sprintf("boundary %d: before operation %d, %v", b.N, b.Op.N, b.Op)
}

// Crash is the Mem's CrashClone at this moment. It may be called while
// EachBoundary's function at runs, as often as wanted.
func (b Boundary) Crash(rng *rand.Rand, crash Crash) *Mem {
	c := b.mem.CrashClone(nil, Kill)
	if file, ok := b.Op.file.(*memFile); ok && b.Torn > 0 {
		c.tear(file, b.Op.data[:b.Torn], b.Op.Off)
	}
	if crash == Kill {
		return c
	}
	return c.CrashClone(rng, crash)
}

// tear writes p to the clone of a file, if that still has a name.
func (m *Mem) tear(file *memFile, p []byte, off int64) {
	for name, n := range m.names {
		if n.id == file.node.id {
			f := memFile{mem: m, node: n, name: name, align: 1}
			_, _ = f.WriteAt(p, off) // no space is an end of the write, too
			return
		}
	}
}

// EachBoundary runs a scenario on mem, calls at for every boundary of it, and
// returns how many there were. Every creation, write, sync, truncation,
// allocation, rename, removal, lock and SyncDir is one, as is that memory is made or
// removed, and a write over several sectors up to three more. Meanwhile the operation waits, and with it every
// other that changes something and has not begun. The scenario ends what it
// starts: the last boundary comes when run has returned.
func EachBoundary(mem *Mem, run func(fsys vfs.FS), at func(b Boundary)) int {
	var mu sync.Mutex
	n := 0
	visit := func(op Op) {
		mu.Lock()
		defer mu.Unlock()
		for _, torn := range append([]int{0}, tears(op)...) {
			at(Boundary{N: n, Op: op, Torn: torn, mem: mem})
			n++
		}
	}
	f := NewFaulty(mem)
	f.Inject(Rule{On: OpChange, Hook: visit})
	run(f)
	visit(Op{})
	return n
}

// tears are the lengths at which a write is cut: the first, the middle and the
// last border between its sectors.
func tears(op Op) []int {
	if op.Kind != OpWrite || op.Off < 0 {
		return nil
	}
	var borders []int
	first := int(sectorSize - op.Off%sectorSize)
	for k := first; k < len(op.data); k += sectorSize {
		borders = append(borders, k)
	}
	if len(borders) == 0 {
		return nil
	}
	return slices.Compact([]int{borders[0], borders[len(borders)/2], borders[len(borders)-1]})
}
