package ssd

import (
	"testing"
	"unsafe"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

var shapes = []memoryShape{
	{slots: 4, shards: 1, stride: 128, segShift: 16, unitShift: 3, locBits: 16},
	{slots: 5, shards: 2, stride: 136, segShift: 20, unitShift: 3, locBits: 21},
	{slots: 1983, shards: 64, stride: 1 << 12, segShift: 26, unitShift: 6, locBits: 34},
	{slots: 7, shards: 3, stride: 128, segShift: 16, unitShift: 16, locBits: 1},
}

// The parts of an index's memory do not overlap, and end with it; the tables begin
// with cache lines.
func TestMemoryLayout(t *testing.T) {
	t.Parallel()
	if n := unsafe.Sizeof(memoryHead{}); n != memoryHeadLen {
		t.Errorf("the head has %d bytes, want %d", n, memoryHeadLen)
	}
	if n := unsafe.Sizeof(slotWords{}); n != slotWordsLen {
		t.Errorf("a slot has %d bytes, want %d", n, slotWordsLen)
	}
	if n := unsafe.Sizeof(shardHead{}); n != shardHeadLen {
		t.Errorf("a shard has %d bytes, want %d", n, shardHeadLen)
	}
	for _, shape := range shapes {
		m, _, err := newMemory(shape, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, end := m.region.Bytes(0, 1), uint64(0)
		place := func(what string, first unsafe.Pointer, n uint64) {
			t.Helper()
			from := uint64(uintptr(first) - uintptr(unsafe.Pointer(&at[0])))
			to := from + n
			if from < end || to > shape.bytes() {
				t.Errorf("%+v: %s has bytes %d to %d, behind %d, of %d", shape, what, from, to, end, shape.bytes())
			}
			end = to
		}
		slots, heads := m.slotWords(), m.shardHeads()
		if len(slots) != int(shape.slots) || len(heads) != int(shape.shards) {
			t.Errorf("%+v: %d slots, %d shards", shape, len(slots), len(heads))
		}
		place("the head", unsafe.Pointer(m.head), memoryHeadLen)
		place("the slots", unsafe.Pointer(&slots[0]), slotWordsLen*uint64(len(slots)))
		place("the shards", unsafe.Pointer(&heads[0]), shardHeadLen*uint64(len(heads)))
		for i := range heads {
			table := m.table(i)
			if len(table) != int(shape.stride) || uintptr(unsafe.Pointer(&table[0]))%64 != 0 {
				t.Errorf("%+v: table %d has %d words at %p", shape, i, len(table), &table[0])
			}
			place("a table", unsafe.Pointer(&table[0]), 8*uint64(len(table)))
		}
		if end != shape.bytes() {
			t.Errorf("%+v: the tables end at %d of %d bytes", shape, end, shape.bytes())
		}
		m.release()
	}
}

func TestMemoryShapeWords(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		if got := shapeOf(shape.words()); got != shape {
			t.Errorf("%+v, by its words %+v", shape, got)
		}
	}
}

// What one process wrote there another finds, if it is the index of its log and says
// what the log has; whatever its shape says, nothing outside of it is touched.
func TestOpenMemory(t *testing.T) {
	t.Parallel()
	const logID = 77
	for name, test := range map[string]struct {
		change func(h *memoryHead)
		found  bool
	}{
		"as it is":      {func(*memoryHead) {}, true},
		"another log":   {func(h *memoryHead) { h.logID++ }, false},
		"not valid":     {func(h *memoryHead) { h.valid.Store(0) }, false},
		"no magic":      {func(h *memoryHead) { h.magic ^= 1 << 40 }, false},
		"version 3":     {func(h *memoryHead) { h.magic++ }, false},
		"more slots":    {func(h *memoryHead) { h.shape[0] <<= 20 }, false},
		"many slots":    {func(h *memoryHead) { h.shape[0] = 1 << 33 }, false},
		"more shards":   {func(h *memoryHead) { h.shape[1] *= 2 }, false},
		"many shards":   {func(h *memoryHead) { h.shape[1] = 1 << 31 }, false},
		"longer tables": {func(h *memoryHead) { h.shape[2] += 1 << 13 }, false},
		"endless ones":  {func(h *memoryHead) { h.shape[2] = 1 << 61 }, false},
		"other bits":    {func(h *memoryHead) { h.shape[3] |= 1 << 30 }, false},
	} {
		mem := vfstest.NewMem()
		m, why, err := newMemory(shapes[1], mem)
		if err != nil || why != nil {
			t.Fatal(why, err)
		}
		m.head.logID = logID
		m.head.valid.Store(1)
		m.head.flushed.Store(5)
		m.slotWords()[4].until.Store(6)
		m.shardHeads()[1].homes.Store(7)
		m.table(1)[135] = 8
		test.change(m.head)
		id := m.id()
		m.release()
		again := openMemory(mem, id, logID)
		if (again != nil) != test.found {
			t.Errorf("%s: found %v, want %v", name, again != nil, test.found)
		}
		if again != nil {
			if again.memoryShape != shapes[1] || again.head.flushed.Load() != 5 || again.slotWords()[4].until.Load() != 6 || again.shardHeads()[1].homes.Load() != 7 || again.table(1)[135] != 8 {
				t.Errorf("%s: found something else", name)
			}
			again.release()
		}
		if kept, err := mem.OpenMemory(id); err != nil { // it was closed
			t.Errorf("%s: %v", name, err)
		} else {
			_ = kept.Close()
		}
	}
}

// Memory that was forgotten is nobody's any more, and empty.
func TestForgetMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	m, _, err := newMemory(shapes[0], mem)
	if err != nil {
		t.Fatal(err)
	}
	m.head.valid.Store(1)
	m.table(0)[3] = 8
	id := m.id()
	m.forget()
	if m.table(0)[3] != 0 || !isZero(m.region.Bytes(memoryHeadLen, int(shapes[0].bytes())-memoryHeadLen)) {
		t.Error("it is not empty")
	}
	m.release()
	if openMemory(mem, id, 0) != nil {
		t.Error("it is found")
	}
}

// Without memory that outlives the process the index lies in other memory.
func TestPlainMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	mem.SetMemory(false)
	m, why, err := newMemory(shapes[0], mem)
	if err != nil || why == nil || m.id() != (vfs.MemoryID{}) {
		t.Fatalf("%v, %v", why, err)
	}
	m.table(0)[0] = 1
	m.forget()
	m.release()
}
