package ram

import (
	"errors"
	"math"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/offheap"
)

// Config configures a tier.
type Config struct {
	Bytes    int64        // budget for records, index and bookkeeping, at least MinBytes
	MaxBytes int64        // the largest that SetBytes accepts; 0: as much as the system lets reserve at no cost
	Seed     uint64       // of the key hash and of sampling
	Now      func() int64 // the time in milliseconds, above 0; nil: the process's, see package clock
	Grace    int64        // how long records are kept after their deadlines, for PeekStale, in milliseconds
	Slide    int64        // how long after its last read a record with an even deadline expires, in milliseconds; 0: reads move none
	Ticking  bool         // a coarse copy of Now is kept; false: every deadline is compared with Now itself

	// OnEvict, if set, is called for every record that leaves for one of the causes Gone, or
	// for those of the last NotifyOf. No lock is held, and the slices are lent until it returns.
	OnEvict func(key, value []byte, cause evicted.Cause)
	// Wants, if set, decides first whether OnEvict is called, with the shard's lock held:
	// what it does not want is not copied.
	Wants func(key []byte, cause evicted.Cause) bool

	Lower LowerTier // the lower tier; nil: none

	Simulation Simulation // of the tier at other sizes, and of both tiers if Lower is SimulatedLower

	HashMask uint64 // for tests: bits of the hash that are kept; 0 keeps all
	PageSize int    // for tests: of memory, a power of two; 0: the system's

	ReserveRegion func(size uint64) (*offheap.Region, error) // for tests; nil: offheap.Reserve
}

// ErrAddressSpace is New's error if the system does not give the address space that
// the tier needs.
var ErrAddressSpace = errors.New("no address space")

// The errors of Set.
var (
	ErrClosed   = errors.New("ram: closed")
	ErrTooLarge = errors.New("ram: record too large")
	ErrNoRoom   = errors.New("ram: no room: nothing can be evicted")
)

// errLowerBusy says that room can be made only by demotions, and that the lower tier
// cannot take them now.
var errLowerBusy = errors.New("ram: the lower tier is busy")

// errDemoteFirst says that long records have to be demoted first: see Evicted.
var errDemoteFirst = errors.New("ram: long records have to be demoted first")

// noWait is the time that a caller claims to have waited who does not want to wait.
const noWait = math.MaxInt64
