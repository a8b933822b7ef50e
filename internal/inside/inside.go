// Package inside is what package live shows of a cache beyond its Stats. Package firn sets
// its functions; the figures change with the machinery.
package inside

import (
	"time"

	"github.com/firncache/firn/internal/histogram"
)

// Of is the inside of a *firn.Cache. It may be called at any time, closed caches included;
// segments is room for Inside.Segments, nil or what an earlier call returned.
var Of func(cache any, segments []byte) Inside

// Keys are keys of reads that RAM answered since the last call for a *firn.Cache: a burst of them, each as often as
// it was read. None are noted before the first call, nor for longer than a burst after the last.
var Keys func(cache any) []Key

// Key is a key of a cache.
type Key struct {
	Namespace string // of a typed cache; empty: a key of the Cache itself
	Bytes     string // encoded, as TypedOptions.KeyCodec does; of the Cache itself, the key
}

// OpenToReplay is firn.Open of firn.Options for a replay, which is no service: the simulation of other
// sizes has memory beside the budget, and a tenth of a processor. It returns a *firn.Cache.
var OpenToReplay func(options any) (cache any, err error)

// Collect takes a frame of the page that live.New made, dated at, and returns when it is in the
// history and offered to the viewers. From its first call on the page takes none by itself.
var Collect func(page any, at time.Time)

// Inside is a snapshot. Histograms count since Open.
type Inside struct {
	Closed bool
	Policy Policy
	Health Health

	// RAMReads is what lookups in RAM took that were made for Of alone: of keys that were read
	// of late, distributed as the reads are, at most 32 each half second. A small cache has
	// none.
	RAMReads histogram.Histogram

	// Segments has a byte for each segment of the log, in the order of the file: 0 to 100 is the
	// share of its bytes that live, in percent, rounded up; or one of the states below. There is
	// none without a log that is in use.
	Segments []byte

	// SSDBudget is how many bytes the files of the SSD tier may take; 0 without one.
	SSDBudget int64
}

// States of a segment.
const (
	SegmentFree    = 255
	SegmentOpen    = 254 // being filled or written
	SegmentFailing = 253 // a write to it failed: it is not used again
)

// Policy is the setting of the eviction policy in use, and why.
type Policy struct {
	Settings []Setting // those to choose from; in a small cache, which does not choose, the one in use
	Current  int
	Filling  bool // nothing has been evicted yet: nothing to choose
}

// Setting is one setting of the policy.
type Setting struct {
	Name  string  // such as "small 5 %, promote at 2 reads": see policy.Setting
	Score float64 // hits of its shadow, lately: a share of the best one's, 0 to 1
}

// Health is that of the tiers below RAM.
type Health struct {
	SSD        State
	SSDReason  string    // why it is not online; of one that is, what there was: a fault of late, where its records come from
	Since      time.Time // when the SSD tier last changed its state; zero: Open
	Shared     State
	SharedNote string
}

// State is that of a tier.
type State string

// The states.
const (
	None       State = "none" // there is no such tier
	Online     State = "online"
	Offline    State = "offline"
	Recovering State = "recovering" // offline, and its disk is being tried again
	Stalled    State = "stalled"    // the disk is behind
)
