package users

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/firncache/firn/bench/rivals"
)

// byteRivals are the byte caches beside firn.
var byteRivals = []string{"fastcache", "freecache", "bigcache"}

// open opens the store called name.
func open(e *env, t Table, name string) (store, error) {
	if t == Bytes {
		return openBytes(e, name)
	}
	return openObjects(e, name)
}

// openBytes gives a byte cache the budget as its size.
func openBytes(e *env, name string) (store, error) {
	w := e.w
	r, err := rivals.Find(name)
	if err != nil {
		return nil, err
	}
	if name != rivals.Firn && !slices.Contains(byteRivals, name) {
		return nil, fmt.Errorf("%s is no byte cache", name)
	}
	cfg := rivals.Config{Entries: w.Entries, KeySize: w.Key, ValueSize: w.Value, Bytes: w.Budget, TTL: w.TTL, EntryTTLs: w.TTL > 0}
	if !w.Fits() {
		cfg.Entries = int(w.Budget) / w.Value
	}
	c, err := r.Open(cfg)
	if err != nil {
		return nil, err
	}
	s := &byteStore{env: e, c: c}
	s.setter, _ = c.(rivals.TTLSetter)
	if w.TTL > 0 && w.act == readOrWrite && name == "fastcache" {
		s.stamp = stampBytes
	}
	return s, nil
}

// stampBytes is the size of the deadline that a program puts in front of its
// values in a cache that knows none.
const stampBytes = 8

// byteStore is a byte cache at work.
type byteStore struct {
	*env
	c       rivals.Cache
	setter  rivals.TTLSetter // nil: deadlines are those of the whole cache, or the program's
	stamp   int              // bytes of the program's deadline in front of a value
	stripes stripes          // for counters
}

func (s *byteStore) wait()  { s.c.Wait() }
func (s *byteStore) close() { s.c.Close() }

func (s *byteStore) client(seed uint32) client {
	w := s.w
	c := &byteClient{byteStore: s, version: seed << 24, value: make([]byte, s.stamp+w.Value), buf: make([]byte, 0, s.stamp+w.Value)}
	loader, loads := s.c.(rivals.Loader)
	batcher, batches := s.c.(rivals.Batcher)
	updater, updates := s.c.(rivals.Updater)
	switch {
	case w.act == load && loads:
		return &byteLoader{c, loader.NewLoader(c.renderOwn)}
	case w.act == load:
		return bytePages{c}
	case w.act == count && updates:
		return newByteUpdater(c, updater)
	case w.act == count:
		return byteCounter{c}
	case w.Batch > 1 && batches:
		return newByteBatch(c, batcher.NewBatch())
	}
	return c
}

// byteClient reads and writes single entries.
type byteClient struct {
	*byteStore
	version    uint32
	value, buf []byte
}

func (c *byteClient) do(entries []uint32, n *counts) {
	writes := entries[0]&write != 0
	for _, e := range entries {
		e &^= write
		if writes || !c.get(e, n) {
			n.wrote(c.set(e))
		}
	}
}

// get reads an entry and reports whether it was there.
func (c *byteClient) get(e uint32, n *counts) bool {
	v, ok := c.c.Get(c.buf, c.keys.bytes(e))
	if c.stamp > 0 && ok {
		ok = int64(binary.LittleEndian.Uint64(v)) > c.clock.NowNano()
		v = v[c.stamp:]
	}
	n.read(ok, ok && isValue(v, e, c.w.Value))
	return ok
}

// set stores the next version of an entry.
func (c *byteClient) set(e uint32) bool {
	c.version++
	fillValue(c.value[c.stamp:], e, c.version)
	if c.stamp > 0 {
		binary.LittleEndian.PutUint64(c.value, uint64(c.clock.NowNano()+int64(c.w.TTL)))
	}
	if c.setter != nil && c.w.TTL > 0 {
		return c.setter.SetTTL(c.keys.bytes(e), c.value, c.w.TTL)
	}
	return c.c.Set(c.keys.bytes(e), c.value)
}

// bytePages loads what is missing by itself: caches without a loader.
type bytePages struct{ *byteClient }

func (c bytePages) do(entries []uint32, n *counts) {
	e := entries[0]
	v, ok := c.c.Get(c.buf, c.keys.bytes(e))
	n.read(ok, ok && isValue(v, e, c.w.Value))
	if !ok {
		c.loads.Add(1)
		render(c.value, e, c.rounds)
		n.wrote(c.c.Set(c.keys.bytes(e), c.value))
	}
}

// renderOwn is a loader.
func (e *env) renderOwn(key []byte) []byte {
	e.loads.Add(1)
	page := make([]byte, e.w.Value)
	render(page, number(key), e.rounds)
	return page
}

// byteLoader reads through the cache's loader.
type byteLoader struct {
	*byteClient
	load func(dst, key []byte) []byte
}

func (c *byteLoader) do(entries []uint32, n *counts) {
	v := c.load(c.buf, c.keys.bytes(entries[0]))
	n.read(true, isValue(v, entries[0], c.w.Value))
}

// byteBatch reads and writes an operation's entries by one call.
type byteBatch struct {
	*byteClient
	batch        rivals.Batch
	list, values [][]byte
}

func newByteBatch(c *byteClient, b rivals.Batch) *byteBatch {
	values := make([][]byte, c.w.Batch)
	for i := range values {
		values[i] = make([]byte, c.w.Value)
	}
	return &byteBatch{c, b, make([][]byte, 0, c.w.Batch), values}
}

func (c *byteBatch) do(entries []uint32, n *counts) {
	c.list = c.list[:0]
	for _, e := range entries {
		c.list = append(c.list, c.keys.bytes(e&^write))
	}
	if entries[0]&write != 0 {
		c.version++
		for i, e := range entries {
			fillValue(c.values[i], e&^write, c.version)
		}
		n.wrote(c.batch.Set(c.list, c.values))
		return
	}
	c.batch.Get(c.list)
	for i, e := range entries {
		v, ok := c.batch.Value(i)
		n.read(ok, ok && isValue(v, e, c.w.Value))
		if !ok {
			n.wrote(c.set(e))
		}
	}
}

// byteCounter counts by Get and Set under the entry's stripe.
type byteCounter struct{ *byteClient }

func (c byteCounter) do(entries []uint32, n *counts) {
	e := entries[0]
	key, lock := c.keys.bytes(e), &c.stripes[e%uint32(len(c.stripes))]
	lock.Lock()
	defer lock.Unlock()
	v, ok := c.c.Get(c.buf, key)
	old := uint64(0)
	if ok {
		old = binary.LittleEndian.Uint64(v)
	}
	n.read(ok, true)
	next, left := c.nextCount(old, ok)
	binary.LittleEndian.PutUint64(c.value, next)
	if c.setter != nil {
		n.wrote(c.setter.SetTTL(key, c.value, left))
	} else {
		n.wrote(c.c.Set(key, c.value))
	}
}

// byteUpdater counts by the cache's own call.
type byteUpdater struct {
	*byteClient
	updater rivals.Updater
	change  func(old []byte, found bool) ([]byte, time.Duration)
	found   bool // by the last change
}

func newByteUpdater(c *byteClient, u rivals.Updater) *byteUpdater {
	b := &byteUpdater{byteClient: c, updater: u}
	b.change = func(old []byte, found bool) ([]byte, time.Duration) {
		v := uint64(0)
		if b.found = found; found {
			v = binary.LittleEndian.Uint64(old)
		}
		next, left := b.nextCount(v, found)
		binary.LittleEndian.PutUint64(b.value, next)
		return b.value, left
	}
	return b
}

func (c *byteUpdater) do(entries []uint32, n *counts) {
	taken := c.updater.Update(c.keys.bytes(entries[0]), c.change)
	n.read(c.found, true)
	n.wrote(taken)
}

func (s *byteStore) counted() (sum uint64) {
	if s.w.act != count {
		return 0
	}
	buf := make([]byte, 0, 8)
	for e := range uint32(s.w.Entries) {
		if v, ok := s.c.Get(buf, s.keys.bytes(e)); ok {
			sum += countOf(binary.LittleEndian.Uint64(v))
		}
	}
	return sum
}
