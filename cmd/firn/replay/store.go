package replay

import (
	"errors"
	"time"

	"github.com/firncache/firn/stats"
)

// Store is a cache under test. Get and Set are called from several goroutines
// at once; Stats and Close after the last of them, in this order.
type Store interface {
	// Get appends the value of key to dst and returns the result, and whether
	// there is one. Both slices stay the caller's.
	Get(dst, key []byte) (value []byte, ok bool)

	// Set stores copies of key and value, which the caller overwrites next.
	// ttl 0: never expires; a store that has no TTL per entry ignores it.
	// An error that wraps ErrTooLarge is counted; any other ends the run.
	Set(key, value []byte, ttl time.Duration) error

	// Stats returns the counters of the store.
	Stats() StoreStats

	Close() error
}

// StoreStats are the counters of a store; counts are Unknown
// where it has none.
type StoreStats struct {
	Evictions int64        // entries removed to make room
	Expired   int64        // entries removed because their TTL had passed
	Bytes     int64        // memory the store occupies by its own account
	SSD       *SSD         // nil: no SSD tier
	Curve     *stats.Curve // what the store would do at other sizes; nil: it does not tell
}

// Unknown stands for a figure that a store or a system does not give.
const Unknown = -1

// StoreOptions is the configuration of a store.
type StoreOptions struct {
	RAMBytes   int64         // budget of keys, values and bookkeeping together, in bytes
	TTL        time.Duration // TTL of writes that bring none of their own; 0: none. It also comes with every Set
	Goroutines int           // how many will call the store at once
}

// OpenFunc opens a store that the caller closes.
type OpenFunc func(StoreOptions) (Store, error)

// ErrTooLarge says that a store does not hold values of this size.
var ErrTooLarge = errors.New("value too large for the store")
