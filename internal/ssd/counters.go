package ssd

import "sync/atomic"

// counters count since Open.
type counters struct {
	hits, collisions, collided          atomic.Uint64
	demoted, demotedBytes, alreadyOnSSD atomic.Uint64
	rejected, dropped, tooLarge         atomic.Uint64
	indexFull                           atomic.Uint64
	invalidated                         atomic.Uint64
	evicted, expired, reinserted        atomic.Uint64
	reinsertedBytes, reclaimed          atomic.Uint64
	written                             atomic.Uint64
	corrupt, readErrors, writeErrors    atomic.Uint64
	quarantined, switchedOff            atomic.Uint64
	compressedFrom, compressedTo        atomic.Uint64
}
