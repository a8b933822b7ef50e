// Package rivals puts the caches that firn is measured against, and firn
// itself, behind one narrow interface. Each file holds one cache, at the best
// configuration and the best calls it offers for the sizes at hand.
package rivals

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A Cache is one cache under test. All methods may be called from several
// goroutines at once, except Close.
type Cache interface {
	// Get appends the value of key to dst, or lends the stored slice if that is
	// what the cache offers: the result is to be read, never to be written.
	Get(dst, key []byte) (value []byte, ok bool)
	// Set stores a copy of key and value and reports whether the cache took
	// them. A cache that takes a value may still drop it later.
	Set(key, value []byte) bool
	// Delete removes key.
	Delete(key []byte)
	// Wait returns when all earlier Sets have been applied.
	Wait()
	// Close releases the cache's memory.
	Close()
}

// A Batcher is a cache with calls for many keys at once.
type Batcher interface {
	// NewBatch returns the state of one goroutine's batch calls.
	NewBatch() Batch
}

// A Batch gets and sets many keys at once, for one goroutine.
type Batch interface {
	// Get looks all keys up; Value then returns the value found for each.
	Get(keys [][]byte)
	// Value is the value of the i-th key of the last Get, lent until the next.
	Value(i int) (value []byte, ok bool)
	// Set stores values[i] under keys[i] and reports whether all were taken.
	Set(keys, values [][]byte) bool
}

// A TTLSetter is a cache whose entries can each have their own deadline.
type TTLSetter interface {
	// SetTTL is Set for an entry that expires after ttl; 0 means never.
	SetTTL(key, value []byte, ttl time.Duration) bool
}

// A Loader is a cache with a call that loads what is missing, once for all who
// ask.
type Loader interface {
	// NewLoader returns one goroutine's call: it appends the value of key to dst,
	// after load has made it where it was missing. The cache may keep what load
	// returns.
	NewLoader(load func(key []byte) []byte) func(dst, key []byte) []byte
}

// An Updater is a cache with a call that reads, changes and writes an entry, with
// no other write of it in between.
type Updater interface {
	// Update stores what change makes of the old value and its time to live; it
	// lends both.
	Update(key []byte, change func(old []byte, found bool) (value []byte, ttl time.Duration)) bool
}

// A Counter is a cache that counts the entries it removed to make room.
type Counter interface{ Evictions() int64 }

// Config describes the contents of a cache.
type Config struct {
	Entries   int           // number of entries expected at once; 0: not known
	KeySize   int           // bytes of every key; 0: keys differ in size
	ValueSize int           // bytes of every value; 0: values differ in size
	Bytes     int64         // budget for keys, values and bookkeeping, as near as the cache can be told
	TTL       time.Duration // lifetime of entries that bring none of their own; 0: none
	EntryTTLs bool          // entries may bring lifetimes of their own
}

// EntryOverhead is the bytes of bookkeeping that budgets allow for an entry.
const EntryOverhead = 24

// Roomy is the size of a cache that holds all entries, with half as much to
// spare, so that none has to drop any.
func Roomy(entries, keySize, valueSize int) Config {
	return Config{
		Entries: entries, KeySize: keySize, ValueSize: valueSize,
		Bytes: int64(keySize+valueSize+EntryOverhead)*int64(entries)*3/2 + 64<<20,
	}
}

// A Rival is a cache that can be opened by name.
type Rival struct {
	Name    string                      // as on the command line and in tables
	Module  string                      // the module whose version is reported; empty: the standard library
	Setup   string                      // the configuration, for the report
	Bound   bool                        // it evicts to stay within a limit; otherwise it grows
	Lends   bool                        // Get lends the stored slice when values differ in size
	Drops   bool                        // Set may also refuse because a queue is full
	OffHeap bool                        // its entries lie where the collector does not look at them
	Fixed   bool                        // it can only hold the sizes that have an array form
	Open    func(Config) (Cache, error) // makes a new, empty cache
}

// Firn is the name of the cache that all others are compared with.
const Firn = "firn"

// All lists every rival, firn first, then in the order of the reports.
var All = []Rival{
	firnRival, fastcacheRival, otterRival, xsyncRival, bigcacheRival, freecacheRival, ristrettoRival,
	theineRival, syncMapRival, goCacheRival, mapRival, mapFixedRival,
}

// Names returns the names of all rivals but firn.
func Names() []string {
	var names []string
	for _, r := range All[1:] {
		names = append(names, r.Name)
	}
	return names
}

// Find returns the rival called name. The error lists the names there are.
func Find(name string) (Rival, error) {
	i := slices.IndexFunc(All, func(r Rival) bool { return r.Name == name })
	if i < 0 {
		return Rival{}, fmt.Errorf("rival %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return All[i], nil
}

// Version returns the version of the rival's module that this program was
// built with.
func (r Rival) Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || r.Module == "" {
		return "Go"
	}
	for _, m := range info.Deps {
		if m.Path == r.Module {
			return m.Version
		}
	}
	return "unknown"
}
