package registry

// headBytes are the bytes of a table before its slots: a word that is 1 once the table
// has forgotten an id, and zeros.
const (
	headBytes = 64
	slotBytes = 24
	markBytes = 4 // of a slot, on the heap
)

// The number of slots of a table, a power of two.
const (
	MinSlots = 64
	MaxSlots = 1 << 15
)

// SlotsFor is how many slots a table has that may take so many bytes, MinSlots at
// least: 32,768 with 897 KiB.
func SlotsFor(bytes int64) int {
	n := MinSlots
	for n < MaxSlots && Memory(2*n) <= bytes {
		n *= 2
	}
	return n
}

// Bytes is the length of the memory of a table with so many slots, a power of two from
// MinSlots to MaxSlots.
func Bytes(slots int) int { return headBytes + slotBytes*slots }

// Memory is how many bytes such a table takes in all.
func Memory(slots int) int64 { return int64(Bytes(slots) + markBytes*slots) }

// Share is the part of a cache's memory that its table may take.
const Share = 128
