//go:build !race && !firn_skip_validation

package ram

import "golang.org/x/sys/cpu"

// getFast copies the value of key behind dst, where there is room, and returns its
// length and deadline. The compiler cannot see that what Get returns is dst's memory:
// its callers do.
//
//go:noescape
func getFast(t *Tier, dst []byte, key string) (n int, deadline int64)

// shortKeys is how many lengths of keys from 8 bytes on are hashed as one: 9, or 0 if the
// processor, older than 2013, has not the instructions of getFast. That leaves every key
// to Tier.get then.
var shortKeys uint64

func init() {
	if cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		shortKeys = 9
	}
}

// The offsets in bytes that get_amd64.s needs of fields in other packages' types.
// TestOffsetsInAssembly compares them with the types.
//
//nolint:unused // the linter does not read assembly
const (
	tableShape      = 0
	tableMask       = 8
	tableChunkShift = 12
	tableChunks     = 16

	bucketLink      = 20
	bucketLocations = 24

	tunerMask = 8
)
