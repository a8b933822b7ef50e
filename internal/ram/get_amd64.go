//go:build !race && !firn_skip_validation

package ram

import (
	"unsafe"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// Get appends the value of key to dst; without one it returns dst unchanged.
func (t *Tier) Get(dst, key []byte) ([]byte, bool) { return get(t, dst, offheap.String(key)) }

// get is getAny, faster for what most Gets are.
//
//go:noescape
func get(t *Tier, dst []byte, key string) (value []byte, ok bool)

// What get_amd64.s has to know of other packages' types: offsets in bytes, and the
// factor of policy's hash.
//
//nolint:unused // the linter does not read assembly
const (
	tableShape      = index.ShapeOffset
	tableMask       = index.MaskOffset
	tableChunks     = index.ChunksOffset
	tableChunkShift = index.ChunkShiftOffset
	tableChunkMask  = index.ChunkMaskOffset

	bucketLink      = index.LinkOffset
	bucketLocations = index.LocationsOffset

	tunerMask   = policy.MaskOffset
	tunerSpread = policy.Spread

	readsMask   = unsafe.Offsetof(readCounters{}.mask)
	clockCoarse = unsafe.Offsetof(clock{}.coarse)
)
