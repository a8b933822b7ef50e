// Package users measures what the user of a cache feels, by five whole
// workloads: how many operations a second, how slow the slowest are, what they
// cost the program in processor time, collections and memory, and what the cache
// has lost.
//
// A workload runs on one of two tables of stores. Byte caches get and give bytes.
// Object caches get and give Go values: firn.Typed keeps them as bytes, the others
// as they are. Each store is used by the best calls that it has, for instance
// GetMulti, a loader of its own, or a counter behind a pointer.
package users

import (
	"time"

	"github.com/firncache/firn/bench/keys"
)

// A Workload is what one kind of program does with a cache. An operation takes
// Batch entries, of which each goroutine has its own sequence.
type Workload struct {
	Name       string
	Text       string // for readers
	Entries    int
	Key, Value int        // bytes
	Budget     int64      // bytes of memory for the store
	Order      keys.Order // of the entries
	TTL        time.Duration
	WriteEvery int // one operation in so many writes, at random; 0: none
	Batch      int // entries of an operation
	PerProc    int // goroutines of each processor
	TimedEvery int // one operation in so many is timed: all where two readings of the clock are below 2 %
	act        action
}

// An action is what an operation does.
type action int

const (
	readOrWrite action = iota // a missing value is stored
	load                      // reads through a loader
	count                     // adds one to a counter
)

// Workloads lists them in the order of the document.
var Workloads = []Workload{
	{
		Name: "sessions", Text: "sessions of 2 KB under keys of 40 bytes, zipf; nine operations in ten read one, the tenth extends its life; all fit",
		Entries: 100_000, Key: 40, Value: 2000, Budget: 320 << 20, Order: keys.Zipf, TTL: 30 * time.Minute, WriteEvery: 10, Batch: 1, PerProc: 1, TimedEvery: 13,
	},
	{
		Name: "pages", Text: "pages of 20 KB through a loader that computes for about 50 µs, zipf; one page in four fits",
		Entries: 50_000, Key: 32, Value: 20_000, Budget: 256 << 20, Order: keys.Zipf, Batch: 1, PerProc: 1, TimedEvery: 1, act: load,
	},
	{
		Name: "features", Text: "100 of a million values of 64 bytes a request, uniform; one request in fifty writes them; all fit",
		Entries: 1_000_000, Key: 8, Value: 64, Budget: 384 << 20, Order: keys.Uniform, WriteEvery: 50, Batch: 100, PerProc: 1, TimedEvery: 1,
	},
	{
		Name: "limiter", Text: "a counter for each of 200,000 clients, zipf, that ends ten minutes after its first request; all fit",
		Entries: 200_000, Key: 16, Value: 8, Budget: 96 << 20, Order: keys.Zipf, TTL: 10 * time.Minute, Batch: 1, PerProc: 1, TimedEvery: 29, act: count,
	},
	{
		Name: "metadata", Text: "5,000 records of 192 bytes, zipf, read by eight goroutines a processor; one operation in 200 writes; all fit",
		Entries: 5000, Key: 24, Value: 192, Budget: 6 << 20, Order: keys.Zipf, WriteEvery: 200, Batch: 1, PerProc: 8, TimedEvery: 101,
	},
}

// smallEntries is enough for pages to need a cache that freecache takes them in.
const smallEntries = 5000

// Small is the workload with few entries, and memory in proportion.
func (w Workload) Small() Workload {
	if w.Entries > smallEntries {
		w.Budget = w.Budget * smallEntries / int64(w.Entries)
		w.Entries = smallEntries
	}
	return w
}

// Fits reports whether every entry has room, so that one that is missing was
// dropped.
func (w Workload) Fits() bool { return w.act != load }

// Table says which stores a workload runs on.
type Table string

// The tables there are.
const (
	Bytes   Table = "bytes"
	Objects Table = "objects"
)

// Tables lists them in the order of the document.
var Tables = []Table{Bytes, Objects}

// Find returns the workload of that name, which must exist.
func Find(name string) Workload {
	for _, w := range Workloads {
		if w.Name == name {
			return w
		}
	}
	panic("users: no workload " + name)
}
