package rivals

import (
	"fmt"
	"sync"
)

var mapRival = Rival{
	Name:  "map",
	Setup: "map[string][]byte and a sync.RWMutex, presized; a value of the same length is overwritten in place; no limit, no expiry",
	Open: func(c Config) (Cache, error) {
		return &mapCache{m: make(map[string][]byte, c.Entries)}, nil
	},
}

// mapCache is the map that holds bytes of any size.
type mapCache struct {
	mu sync.RWMutex
	m  map[string][]byte
}

func (m *mapCache) Get(dst, key []byte) ([]byte, bool) {
	m.mu.RLock()
	v, ok := m.m[string(key)]
	dst = append(dst, v...)
	m.mu.RUnlock()
	return dst, ok
}

func (m *mapCache) Set(key, value []byte) bool {
	m.mu.Lock()
	if old, ok := m.m[string(key)]; ok && len(old) == len(value) {
		copy(old, value)
	} else {
		m.m[string(key)] = append(make([]byte, 0, len(value)), value...)
	}
	m.mu.Unlock()
	return true
}

func (m *mapCache) Delete(key []byte) {
	m.mu.Lock()
	delete(m.m, string(key))
	m.mu.Unlock()
}

func (m *mapCache) Wait()  {}
func (m *mapCache) Close() { clear(m.m) }

var mapFixedRival = Rival{
	Name: "map-fixed", Fixed: true,
	Setup: "map[[16]byte][64]byte (or [4]byte → [4]byte) and a sync.RWMutex, presized: no pointers, but one size only; no limit, no expiry",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newMapFixed[key4, value4](c), nil
		case arrays16:
			return newMapFixed[key16, value](c), nil
		}
		return nil, fmt.Errorf("map-fixed: %d-byte keys and %d-byte values: expected 16 and 64, or 4 and 4", c.KeySize, c.ValueSize)
	},
}

// mapFixedCache is the map without pointers, which the collector does not
// scan.
type mapFixedCache[K comparable, V any] struct {
	layout[K, V]
	mu sync.RWMutex
	m  map[K]V
}

func newMapFixed[K comparable, V any](c Config) Cache {
	return &mapFixedCache[K, V]{layout: newLayout[K, V](), m: make(map[K]V, c.Entries)}
}

func (m *mapFixedCache[K, V]) Get(dst, key []byte) ([]byte, bool) {
	m.mu.RLock()
	v, ok := m.m[m.key(key)]
	m.mu.RUnlock()
	if !ok {
		return dst, false
	}
	return m.bytes(dst, &v), true
}

func (m *mapFixedCache[K, V]) Set(key, value []byte) bool {
	m.mu.Lock()
	m.m[m.key(key)] = m.ownValue(value)
	m.mu.Unlock()
	return true
}

func (m *mapFixedCache[K, V]) Delete(key []byte) {
	m.mu.Lock()
	delete(m.m, m.key(key))
	m.mu.Unlock()
}

func (m *mapFixedCache[K, V]) Wait()  {}
func (m *mapFixedCache[K, V]) Close() { clear(m.m) }
