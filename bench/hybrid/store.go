// Package hybrid measures stores that hold more than fits into memory, under a
// limit of memory: how fast they answer, and what that costs the device.
package hybrid

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes of an entry, in bytes.
const (
	KeySize   = 16
	ValueSize = 256
)

// A Store is one store under test. All methods but Close may be called from
// several goroutines at once.
type Store interface {
	// Get appends the value of key to dst. A key that is not there is no error.
	Get(dst, key []byte) (value []byte, ok bool, err error)
	// Set stores a copy of key and value, in a way that survives the death of
	// the process but need not survive that of the machine.
	Set(key, value []byte) error
	// Load stores n entries in the way that is best for many at once. pair
	// returns the i-th; its slices are valid until the next call.
	Load(n int, pair func(i int) (key, value []byte)) error
	// Flush hands stored data to the operating system.
	Flush() error
	Close() error
}

// Config is the configuration of a store.
type Config struct {
	Dir       string
	Memory    int64 // bytes that the process may take, page cache included
	Least     int64 // what it will be opened with later, if that is less; 0: it is not
	DataBytes int64 // of keys and values that it will hold
	Readers   int   // goroutines that will use it at once
	PageCache bool  // firn's reads come from the page cache, not the device
}

// An Engine is a store that can be opened by name.
type Engine struct {
	Name   string
	Module string // whose version is reported; empty: this tree
	Setup  string // the configuration, for the report
	Open   func(Config) (Store, error)
}

// Firn is the engine that the others stand beside.
const Firn = "firn"

// Engines lists them in the order of the tables.
var Engines = []Engine{firnEngine, pebbleEngine, badgerEngine, bboltEngine, sqliteEngine}

// Names lists the engines.
func Names() []string {
	var names []string
	for _, e := range Engines {
		names = append(names, e.Name)
	}
	return names
}

// Find returns the engine of that name.
func Find(name string) (Engine, error) {
	i := slices.IndexFunc(Engines, func(e Engine) bool { return e.Name == name })
	if i < 0 {
		return Engine{}, fmt.Errorf("store %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return Engines[i], nil
}
