// Package gcload measures the cost of data in memory to a program through the
// garbage collector: a store is filled, and requests that allocate run beside
// it.
package gcload

import (
	"encoding/binary"
	"slices"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// ValueSize is the length of a value, in bytes.
const ValueSize = 64

// A Store is filled once by one goroutine, and read afterwards.
type Store interface {
	Set(key, value []byte) bool
	// Get appends the value to dst, or lends it.
	Get(dst, key []byte) ([]byte, bool)
}

// A form is a way to hold entries.
type form struct {
	name string
	open func(entries int) (Store, error)
}

// Nothing is the name of the form that holds no entries: the cost of requests by
// themselves.
const Nothing = "nothing"

// forms lists the maps; caches come from package rivals.
var forms = []form{
	{Nothing, func(int) (Store, error) { return nothing{}, nil }},
	{"map-of-strings", func(n int) (Store, error) { return make(stringMap, n), nil }},
	{"map-of-pointers", func(n int) (Store, error) { return make(pointerMap, n), nil }},
	{"map-of-structs", func(n int) (Store, error) { return make(structMap, n), nil }},
}

// Names lists all forms: the maps, then firn, then the caches beside it.
func Names() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	for _, r := range rivals.All {
		if r.Name != "map" && r.Name != "map-fixed" { // the forms above
			names = append(names, r.Name)
		}
	}
	return names
}

// open makes an empty store with room for the entries.
func open(name string, entries int) (Store, error) {
	if i := slices.IndexFunc(forms, func(f form) bool { return f.name == name }); i >= 0 {
		return forms[i].open(entries)
	}
	r, err := rivals.Find(name)
	if err != nil {
		return nil, err
	}
	return r.Open(rivals.Roomy(entries, keys.Size, ValueSize))
}

type nothing struct{}

func (nothing) Set(_, _ []byte) bool             { return true }
func (nothing) Get(dst, _ []byte) ([]byte, bool) { return dst, false }

// stringMap is the first choice of a program: two pointers for each entry.
type stringMap map[string]string

func (m stringMap) Set(key, value []byte) bool { m[string(key)] = string(value); return true }

func (m stringMap) Get(dst, key []byte) ([]byte, bool) {
	v, ok := m[string(key)]
	return append(dst, v...), ok
}

// entry is a record as programs keep them: with a name, and fields.
type entry struct {
	name    string
	payload []byte
	count   uint64
}

// pointerMap has four pointers for each entry.
type pointerMap map[string]*entry

func (m pointerMap) Set(key, value []byte) bool {
	name := string(key)
	m[name] = &entry{name: name, payload: append([]byte(nil), value...), count: binary.LittleEndian.Uint64(value)}
	return true
}

func (m pointerMap) Get(dst, key []byte) ([]byte, bool) {
	e := m[string(key)]
	if e == nil {
		return dst, false
	}
	return append(dst, e.payload...), true
}

// structMap has no pointers, so the collector need not look into it: the usual
// advice, for data of one size.
type structMap map[[keys.Size]byte][ValueSize]byte

func (m structMap) Set(key, value []byte) bool {
	m[[keys.Size]byte(key)] = [ValueSize]byte(value)
	return true
}

func (m structMap) Get(dst, key []byte) ([]byte, bool) {
	v, ok := m[[keys.Size]byte(key)]
	if ok {
		dst = append(dst, v[:]...)
	}
	return dst, ok
}
