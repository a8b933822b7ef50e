package report

import (
	"github.com/firncache/firn/bench/gcload"
	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/users"
)

// suiteTexts describe the suites.
var suiteTexts = map[string]string{
	"users":       "Five whole workloads, on byte caches and on object caches: a session store, a page cache with a loader, a feature store, a rate limiter, the metadata of files. The stores take turns, each in a process of its own, with the collector at work; all have the same memory. Values are read and checked.",
	"classic":     "The table of the articles about fastcache: Set, Get and both over 65,536 items of 4 + 4 bytes, every value compared; then values of 64 KiB to 1 MiB, where fastcache needs SetBig and GetBig and firn has one Set. otter lends the stored slice; the others copy what they return.",
	"ram":         "16-byte keys, 64-byte values, all entries fit: reads, writes and both, by goroutines, by number of entries, in batches, and the latency of single calls.",
	"large":       "Values of 1 KiB, and how many values of 300 KB and 1 MB survive in a small cache.",
	"memory":      "Each cache in a process of its own: what an entry costs, what the collector costs, and the slowest single Set.",
	"gc":          "Why off-heap: the same entries in a map of strings, a map of structs, on-heap caches and firn, each in a process of its own, beside a loop of requests that allocate.",
	"hitratio":    "What stays. Every policy gets the same bytes, its bookkeeping included. firn, otter, theine and ristretto are the real caches; the other policies are simulated, and Belady's, which knows the future, is the bound.",
	"curve":       "What Cache.Curve says of other sizes beside what caches of these sizes miss, on steady and on changing loads. The cache is at work, on a clock by which 20,000 requests come a second.",
	"hybrid":      "More data than memory: stores on one disk under a limit of memory, beside firn. Bytes are those that the device saw.",
	"shared":      "Caches above one server on the same machine, by TCP: values of 64 bytes under keys of 16. A hit is read from the process; a fetch is of a value that another client has just written, a load of one that is nowhere. go-redis/cache hears nothing of other processes: its copies are as old as they happen to be. Feed: what caches that listen cost a writer; all of them run on this machine, too.",
	"bufpool":     "Reading streams to their end: firn's bufpool beside io.ReadAll and other pools.",
	"casestudies": "Costs that articles about Go performance argue about, on the Go of today. docs/internals/DECISIONS.md says what follows from them.",
}

// setups are the configurations of stores that are not in the table of rivals.
var setups = func() map[string]string {
	m := map[string]string{
		gcload.Nothing: "suite gc: no entries at all", "map-of-strings": "suite gc: map[string]string",
		"map-of-pointers": "suite gc: map[string]*struct with a string and a []byte", "map-of-structs": "suite gc: map[[16]byte][64]byte, no pointers",
	}
	for _, p := range hitratio.Policies {
		m[p.Name] = "suite hitratio: " + p.Setup
	}
	m[users.Hot] = "suite users: firn.Typed with HotValues for all entries, ReadOnly, pointers, a codec by hand and a GOMEMLIMIT as if the budget lay on the heap"
	m[hybrid.Device] = "suite hybrid: the disk itself, past all caches, through firn's queue of reads"
	for _, e := range hybrid.Engines {
		m[e.Name] = "suite hybrid: " + e.Setup
	}
	return m
}()
