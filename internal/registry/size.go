package registry

import "github.com/firncache/firn/internal/offheap"

// The number of places of a table, a power of two.
const (
	MinPlaces = 64
	MaxPlaces = 1 << 26
)

const (
	headBytes  = 64
	placeBytes = 32
)

// Share is the part of a cache's memory that the places of its table may take.
const Share = 128

// PlacesFor is how many places a table has whose places may take so many bytes, MinPlaces at
// least: 32,768 with 1 MiB.
func PlacesFor(bytes int64) int {
	n := MinPlaces
	for n < MaxPlaces && 2*placeBytes*int64(n) <= bytes {
		n *= 2
	}
	return n
}

// Bytes is the length of the memory of a table with so many places, a power of two from
// MinPlaces to MaxPlaces.
func Bytes(places int) int { return headBytes + placeBytes*places }

// Alloc makes an empty table of memory of its own, which Free gives back.
func Alloc(places int, seed uint64) *Table {
	mem, err := offheap.Alloc(Bytes(places))
	if err != nil {
		mem = make([]byte, Bytes(places))
	}
	t := New(mem, seed)
	if err == nil {
		t.own = mem
	}
	return t
}

// Free gives the memory of Alloc back. Nobody uses the table any more.
func (t *Table) Free() { _ = offheap.Free(t.own) }
