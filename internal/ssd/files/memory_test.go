package files

import (
	"testing"
	"unsafe"

	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

var shapes = []format.MemoryShape{
	{Slots: 4, Shards: 1, Stride: 128, SegmentShift: 16, UnitShift: 3, LocationBits: 16, Places: 64},
	{Slots: 5, Shards: 2, Stride: 136, SegmentShift: 20, UnitShift: 3, LocationBits: 21, Places: 128},
	{Slots: 1983, Shards: 64, Stride: 1 << 12, SegmentShift: 26, UnitShift: 6, LocationBits: 34, Places: 1 << 15},
	{Slots: 7, Shards: 3, Stride: 128, SegmentShift: 16, UnitShift: 16, LocationBits: 1},
}

// The parts of an index's memory do not overlap, and end with it; the tables begin
// with cache lines.
func TestMemoryLayout(t *testing.T) {
	t.Parallel()
	if n := unsafe.Sizeof(format.MemoryHead{}); n != format.MemoryHeadLen {
		t.Errorf("the head has %d bytes, want %d", n, format.MemoryHeadLen)
	}
	if n := unsafe.Sizeof(format.SlotWords{}); n != format.SlotWordsLen {
		t.Errorf("a slot has %d bytes, want %d", n, format.SlotWordsLen)
	}
	if n := unsafe.Sizeof(format.ShardHead{}); n != format.ShardHeadLen {
		t.Errorf("a shard has %d bytes, want %d", n, format.ShardHeadLen)
	}
	for _, shape := range shapes {
		m, _, err := NewMemory(shape, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, end := m.Region.Bytes(0, 1), uint64(0)
		place := func(what string, first unsafe.Pointer, n uint64) {
			t.Helper()
			from := uint64(uintptr(first) - uintptr(unsafe.Pointer(&at[0])))
			to := from + n
			if from < end || to > shape.Bytes() {
				t.Errorf("%+v: %s has bytes %d to %d, behind %d, of %d", shape, what, from, to, end, shape.Bytes())
			}
			end = to
		}
		slots, heads := m.SlotWords(), m.ShardHeads()
		if len(slots) != int(shape.Slots) || len(heads) != int(shape.Shards) {
			t.Errorf("%+v: %d slots, %d shards", shape, len(slots), len(heads))
		}
		place("the head", unsafe.Pointer(m.Head), format.MemoryHeadLen)
		if r := m.Registry(); len(r) > 0 {
			place("the registry", unsafe.Pointer(&r[0]), uint64(len(r)))
		}
		place("the slots", unsafe.Pointer(&slots[0]), format.SlotWordsLen*uint64(len(slots)))
		place("the shards", unsafe.Pointer(&heads[0]), format.ShardHeadLen*uint64(len(heads)))
		for i := range heads {
			table := m.Table(i)
			if len(table) != int(shape.Stride) || uintptr(unsafe.Pointer(&table[0]))%64 != 0 {
				t.Errorf("%+v: table %d has %d words at %p", shape, i, len(table), &table[0])
			}
			place("a table", unsafe.Pointer(&table[0]), 8*uint64(len(table)))
		}
		if end != shape.Bytes() {
			t.Errorf("%+v: the tables end at %d of %d bytes", shape, end, shape.Bytes())
		}
		m.Release()
	}
}

func TestMemoryShapeWords(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		if got := format.ShapeOf(shape.Words()); got != shape {
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
		change func(h *format.MemoryHead)
		found  bool
	}{
		"as it is":      {func(*format.MemoryHead) {}, true},
		"another log":   {func(h *format.MemoryHead) { h.LogID++ }, false},
		"not valid":     {func(h *format.MemoryHead) { h.Valid.Store(0) }, false},
		"no magic":      {func(h *format.MemoryHead) { h.Magic ^= 1 << 40 }, false},
		"version 4":     {func(h *format.MemoryHead) { h.Magic++ }, false},
		"more slots":    {func(h *format.MemoryHead) { h.Shape[0] <<= 20 }, false},
		"many slots":    {func(h *format.MemoryHead) { h.Shape[0] = 1 << 33 }, false},
		"more shards":   {func(h *format.MemoryHead) { h.Shape[1] *= 2 }, false},
		"many shards":   {func(h *format.MemoryHead) { h.Shape[1] = 1 << 31 }, false},
		"longer tables": {func(h *format.MemoryHead) { h.Shape[2] += 1 << 13 }, false},
		"endless ones":  {func(h *format.MemoryHead) { h.Shape[2] = 1 << 61 }, false},
		"other bits":    {func(h *format.MemoryHead) { h.Shape[3] |= 1 << 40 }, false},
		"few places":    {func(h *format.MemoryHead) { h.Shape[3] = h.Shape[3]&^(255<<24) | 6<<24 }, false},
		"many places":   {func(h *format.MemoryHead) { h.Shape[3] = h.Shape[3]&^(255<<24) | 28<<24 }, false},
		"endless":       {func(h *format.MemoryHead) { h.Shape[3] |= 127 << 24 }, false},
	} {
		mem := vfstest.NewMem()
		m, why, err := NewMemory(shapes[1], mem)
		if err != nil || why != nil {
			t.Fatal(why, err)
		}
		m.Head.LogID = logID
		m.Head.Valid.Store(1)
		m.Head.Flushed.Store(5)
		m.SlotWords()[4].Until.Store(6)
		m.ShardHeads()[1].Capacity.Store(7)
		m.Table(1)[135] = 8
		generation := registry.New(m.Registry(), 1).Clear(registry.ID{1})
		test.change(m.Head)
		id := m.ID()
		m.Release()
		again, err := OpenMemory(mem, id, logID)
		if err != nil {
			t.Fatal(err)
		}
		if (again != nil) != test.found {
			t.Errorf("%s: found %v, want %v", name, again != nil, test.found)
		}
		if again != nil {
			if again.MemoryShape != shapes[1] || again.Head.Flushed.Load() != 5 || again.SlotWords()[4].Until.Load() != 6 || again.ShardHeads()[1].Capacity.Load() != 7 || again.Table(1)[135] != 8 {
				t.Errorf("%s: found something else", name)
			}
			if g := registry.New(again.Registry(), 1).Generation(registry.ID{1}); g != generation {
				t.Errorf("%s: found the generation %d, want %d", name, g, generation)
			}
			again.Release()
		}
		if kept, err := mem.OpenMemory(id); err != nil { // it was closed
			t.Errorf("%s: %v", name, err)
		} else {
			_ = kept.Close()
		}
	}
}

// Memory that was forgotten is found by nobody, and may be looked at until it is released.
func TestForgetMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	m, _, err := NewMemory(shapes[0], mem)
	if err != nil {
		t.Fatal(err)
	}
	m.Head.Valid.Store(1)
	m.Table(0)[3] = 8
	id := m.ID()
	m.Forget()
	if again, err := OpenMemory(mem, id, 0); again != nil || err != nil {
		t.Errorf("it is found, %v", err)
	}
	m.Table(0)[4] = m.Table(0)[3]
	m.Release()
	if again, err := OpenMemory(mem, id, 0); again != nil || err != nil {
		t.Error("it is found")
	}
}

// Without memory that outlives the process the index lies in other memory.
func TestPlainMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	mem.SetMemory(false)
	m, why, err := NewMemory(shapes[0], mem)
	if err != nil || why == nil || m.ID() != (vfs.MemoryID{}) {
		t.Fatalf("%v, %v", why, err)
	}
	m.Table(0)[0] = 1
	m.Forget()
	m.Release()
}
