package index

import "unsafe"

// Where the fields that readers look at lie, in bytes, for code in assembly.
const (
	ShapeOffset      = unsafe.Offsetof(Table{}.shape)
	MaskOffset       = unsafe.Offsetof(Table{}.mask)
	ChunksOffset     = unsafe.Offsetof(Table{}.chunks)
	ChunkShiftOffset = unsafe.Offsetof(Table{}.chunkShift)
	ChunkMaskOffset  = unsafe.Offsetof(Table{}.chunkMask)

	LinkOffset      = unsafe.Offsetof(Bucket{}.tags) + 2*8 + linkBit/8
	LocationsOffset = unsafe.Offsetof(Bucket{}.locs)
)
