// Package sim compares eviction policies on request traces. It keeps the
// choice of internal/policy honest: the policy it measures is the very code
// that the RAM tier runs, on queues of segments as there (package policytest).
package sim

// Cache is an eviction policy over the keys 0..n-1, without the data.
type Cache interface {
	// Access reports whether key is resident, and makes it so.
	Access(key int32) (hit bool)
}

// New makes an empty cache for a number of distinct keys that holds capacity
// of them.
type New func(keys, capacity int) Cache

// Misses runs the requests through a cache and counts its misses.
func Misses(c Cache, requests []int32) int {
	misses := 0
	for _, key := range requests {
		if !c.Access(key) {
			misses++
		}
	}
	return misses
}

// References are the policies of the literature that firn is compared with,
// by name. They count records, and their bookkeeping is free.
var References = []struct {
	Name string
	New  New
}{
	{"LRU", NewLRU},
	{"FIFO", NewFIFO},
	{"Clock", NewClock},
	{"SIEVE", NewSIEVE},
	{"2Q", New2Q},
	{"ARC", NewARC},
	{"CAR", NewCAR},
	{"LIRS", NewLIRS},
	{"W-TinyLFU", NewWTinyLFU},
	{"S3-FIFO", NewS3FIFO},
}
