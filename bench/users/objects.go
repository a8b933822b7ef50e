package users

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/rivals"
)

// Hot is firn.Typed with hot values.
const Hot = "firn+hot"

// objectRivals are the object caches beside firn. Those without a limit have no
// part in a workload that does not fit.
var objectRivals = []string{"otter", "theine", "ristretto", "xsync", "go-cache"}

// Stores lists the stores that a workload runs on, firn first. Where keys are all
// alike or writes come as often as reads, hot values bring nothing.
func Stores(w Workload, t Table) []string {
	if t == Bytes {
		return append([]string{rivals.Firn}, byteRivals...)
	}
	stores := []string{rivals.Firn}
	if w.act != count && w.Batch == 1 {
		stores = append(stores, Hot)
	}
	for _, name := range objectRivals {
		if r, err := rivals.Find(name); err == nil && (r.Bound || w.Fits()) {
			stores = append(stores, name)
		}
	}
	return stores
}

// A key is a type of keys.
type key interface{ string | uint64 }

// A spec is what an object cache has to know of a workload: its keys and values.
type spec[K key, V any] struct {
	*env
	key    func(n uint32) K // for a call that does not keep it
	own    func(n uint32) K // to be kept
	create func(n, version uint32) V
	is     func(v V, n uint32) bool
	number func(key K) uint32
	bytes  int           // of an entry's key and value on the heap
	codec  firn.Codec[V] // by hand, for firn with options
}

// room is the number of entries that the budget allows a cache that counts
// entries, each of which takes it so many bytes beyond key and value.
func (s *spec[K, V]) room(overhead int) int { return int(s.w.Budget) / (s.bytes + overhead) }

// load is a loader.
func (s *spec[K, V]) load(key K) V {
	s.loads.Add(1)
	return s.create(s.number(key), 0)
}

// objects is an object cache. It keeps what it is given with the workload's TTL.
type objects[K key, V any] interface {
	get(key K) (V, bool)
	set(key K, value V) bool // whether it was taken
	wait()
	close()
}

// A loading cache has a call that loads what is missing.
type loading[K key, V any] interface{ getOrLoad(key K) V }

// A batching cache has a call for many keys, for one goroutine.
type batching[K key, V any] interface {
	newBatch() (get func(keys []K), value func(i int) (V, bool))
}

// openObjects opens an object cache for the workload's types.
func openObjects(e *env, name string) (store, error) {
	text := textKeys(e)
	switch e.w.Name {
	case "sessions":
		if name == rivals.Firn {
			s := spec[string, Session]{env: e, key: e.keys.text, own: text, number: number[string]}
			s.create, s.is = valueOf(newSession(e.w.Value)), isSession(e.w.Value)
			return openStore(&s, name)
		}
		s := spec[string, *Session]{env: e, key: e.keys.text, own: text, number: number[string], codec: sessionCodec{}, bytes: heapBytes(e.w.Key) + heapBytes(e.w.Value) + sessionBytes}
		s.create, s.is = newSession(e.w.Value), behind(isSession(e.w.Value))
		return openStore(&s, name)
	case "pages":
		s := spec[string, []byte]{env: e, key: e.keys.text, own: text, number: number[string], bytes: heapBytes(e.w.Key) + heapBytes(e.w.Value)}
		s.create = func(n, _ uint32) []byte {
			page := make([]byte, e.w.Value)
			render(page, n, e.rounds)
			return page
		}
		s.is = func(v []byte, n uint32) bool { return isValue(v, n, e.w.Value) }
		return openStore(&s, name)
	case "features":
		if name == "go-cache" { // knows no other keys than strings
			return openStore(&spec[string, Features]{env: e, key: e.keys.text, own: text, create: newFeatures, is: isFeatures}, name)
		}
		s := spec[uint64, Features]{env: e, key: e.keys.integer, own: e.keys.integer, bytes: e.w.Key + e.w.Value}
		s.create, s.is = newFeatures, isFeatures
		return openStore(&s, name)
	case "limiter":
		if name == rivals.Firn {
			return openTypedCounters(e)
		}
		s := spec[string, *atomic.Uint64]{env: e, key: e.keys.text, own: text, bytes: heapBytes(e.w.Key) + e.w.Value}
		return openStore(&s, name)
	case "metadata":
		if name == rivals.Firn {
			s := spec[string, Metadata]{env: e, key: e.keys.text, own: text}
			s.create, s.is = valueOf(newMetadata(&e.keys)), isMetadata
			return openStore(&s, name)
		}
		s := spec[string, *Metadata]{env: e, key: e.keys.text, own: text, codec: metadataCodec{}, bytes: heapBytes(e.w.Key) + heapBytes(e.w.Value) + metadataBytes}
		s.create, s.is = newMetadata(&e.keys), behind(isMetadata)
		return openStore(&s, name)
	}
	return nil, fmt.Errorf("no types for %s", e.w.Name)
}

// valueOf makes values of what makes pointers.
func valueOf[V any](create func(n, version uint32) *V) func(n, version uint32) V {
	return func(n, version uint32) V { return *create(n, version) }
}

// behind is a check of values for pointers to them.
func behind[V any](is func(v V, n uint32) bool) func(v *V, n uint32) bool {
	return func(v *V, n uint32) bool { return is(*v, n) }
}

// textKeys makes keys that caches may keep: each has memory of its own, as one has
// that came with a request.
func textKeys(e *env) func(n uint32) string {
	return func(n uint32) string { return strings.Clone(e.keys.text(n)) }
}

// heapBytes is what the Go heap takes for so many bytes: its sizes lie at most an
// eighth apart.
func heapBytes(n int) int {
	if n <= 16 {
		return n
	}
	step := max(16, 1<<max(0, int(math.Log2(float64(n)))-3))
	return (n + step - 1) / step * step
}

// openStore opens the cache called name.
func openStore[K key, V any](s *spec[K, V], name string) (store, error) {
	if !slices.Contains(Stores(s.w, Objects), name) {
		return nil, fmt.Errorf("%s has no part in %s", name, s.w.Name)
	}
	o := &objectStore[K, V]{spec: s}
	var err error
	switch name {
	case rivals.Firn, Hot:
		o.c, err = openTyped(s, name == Hot)
	case "otter":
		o.c, err = openOtter(s)
	case "theine":
		o.c, err = openTheine(s)
	case "ristretto":
		o.c, err = openRistretto(s)
	case "xsync":
		o.c = openXsync(s)
	case "go-cache":
		o.c = any(openGoCache[V](s.env)).(objects[K, V])
	}
	return o, err
}

// objectStore is an object cache at work.
type objectStore[K key, V any] struct {
	*spec[K, V]
	c       objects[K, V]
	stripes stripes // for counters
}

func (s *objectStore[K, V]) wait()  { s.c.wait() }
func (s *objectStore[K, V]) close() { s.c.close() }

func (s *objectStore[K, V]) client(seed uint32) client {
	c := &objectClient[K, V]{objectStore: s, version: seed << 24}
	loader, loads := s.c.(loading[K, V])
	batcher, batches := s.c.(batching[K, V])
	switch {
	case s.w.act == load && loads:
		return objectLoader[K, V]{c, loader}
	case s.w.act == load:
		return objectPages[K, V]{c}
	case s.w.act == count:
		return objectCounter{any(s).(*objectStore[string, *atomic.Uint64])}
	case s.w.Batch > 1 && batches:
		b := &objectBatch[K, V]{objectClient: c}
		b.getMulti, b.value = batcher.newBatch()
		return b
	}
	return c
}

func (s *objectStore[K, V]) counted() (sum uint64) {
	counters, ok := any(s.c).(objects[string, *atomic.Uint64])
	if !ok {
		return 0
	}
	for e := range uint32(s.w.Entries) {
		if c, ok := counters.get(s.keys.text(e)); ok {
			sum += c.Load()
		}
	}
	return sum
}

// objectClient reads and writes single entries.
type objectClient[K key, V any] struct {
	*objectStore[K, V]
	version uint32
}

func (c *objectClient[K, V]) do(entries []uint32, n *counts) {
	writes := entries[0]&write != 0
	for _, e := range entries {
		e &^= write
		if writes || !c.get(e, n) {
			n.wrote(c.set(e))
		}
	}
}

// get reads an entry and reports whether it was there.
func (c *objectClient[K, V]) get(e uint32, n *counts) bool {
	v, ok := c.c.get(c.key(e))
	n.read(ok, ok && c.is(v, e))
	return ok
}

// set stores the next version of an entry.
func (c *objectClient[K, V]) set(e uint32) bool {
	c.version++
	return c.c.set(c.own(e), c.create(e, c.version))
}

// objectPages loads what is missing by itself: a cache without a loader.
type objectPages[K key, V any] struct{ *objectClient[K, V] }

func (c objectPages[K, V]) do(entries []uint32, n *counts) {
	e := entries[0]
	if !c.get(e, n) {
		c.loads.Add(1)
		c.c.set(c.own(e), c.create(e, 0)) // what is refused is loaded again
	}
}

// objectLoader reads through the cache's loader.
type objectLoader[K key, V any] struct {
	*objectClient[K, V]
	c loading[K, V]
}

func (c objectLoader[K, V]) do(entries []uint32, n *counts) {
	n.read(true, c.is(c.c.getOrLoad(c.own(entries[0])), entries[0]))
}

// objectBatch reads an operation's entries by one call.
type objectBatch[K key, V any] struct {
	*objectClient[K, V]
	list     []K
	getMulti func(keys []K)
	value    func(i int) (V, bool)
}

func (c *objectBatch[K, V]) do(entries []uint32, n *counts) {
	if entries[0]&write != 0 {
		c.objectClient.do(entries, n)
		return
	}
	c.list = c.list[:0]
	for _, e := range entries {
		c.list = append(c.list, c.key(e))
	}
	c.getMulti(c.list)
	for i, e := range entries {
		v, ok := c.value(i)
		n.read(ok, ok && c.is(v, e))
		if !ok {
			n.wrote(c.set(e))
		}
	}
}
