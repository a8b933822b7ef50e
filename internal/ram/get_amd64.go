//go:build !race && !firn_skip_validation

package ram

import (
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// Get appends the value of key to dst; without one it returns dst unchanged.
func (t *Tier) Get(dst, key []byte) (value []byte, ok bool) {
	if value, ok = getShort(t, dst, offheap.String(key)); !ok {
		value = dst // it is; said here, the compiler knows that the result may be dst
	}
	return
}

// getShort is getAny, faster for most Gets. That its result is dst's memory the
// compiler does not know: its caller tells.
//
//go:noescape
func getShort(t *Tier, dst []byte, key string) (value []byte, ok bool)

// The offsets in bytes that get_amd64.s needs of fields in other packages' types, and
// the factor of policy's hash. TestOffsetsInAssembly compares them with the types.
//
//nolint:unused // the linter does not read assembly
const (
	tableShape      = 0
	tableMask       = 8
	tableChunks     = 16
	tableChunkShift = 56
	tableChunkMask  = 60

	bucketLink      = 20
	bucketLocations = 24

	tunerMask   = 8
	tunerSpread = policy.Spread
)
