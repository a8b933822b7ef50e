package replay

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/firncache/firn/internal/workload"
)

// lruStore is an LRU cache of a number of entries: simple, and with known answers.
type lruStore struct {
	mu       sync.Mutex
	capacity int
	entries  map[string]*list.Element
	order    *list.List // of *lruEntry, the last used in front
	evicted  int64
	closed   int

	onSet func(key, value []byte, ttl time.Duration) error // nil: none
	onGet func(key, value []byte) []byte                   // what a hit returns; nil: the value
}

type lruEntry struct {
	key   string
	value []byte
}

func newLRU(capacity int) *lruStore {
	return &lruStore{capacity: capacity, entries: map[string]*list.Element{}, order: list.New()}
}

func (s *lruStore) open(StoreOptions) (Store, error) { return s, nil }

func (s *lruStore) Get(dst, key []byte) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, ok := s.entries[string(key)]
	if !ok {
		return dst, false
	}
	s.order.MoveToFront(element)
	value := element.Value.(*lruEntry).value
	if s.onGet != nil {
		value = s.onGet(key, slices.Clone(value))
	}
	return append(dst, value...), true
}

func (s *lruStore) Set(key, value []byte, ttl time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.onSet != nil {
		if err := s.onSet(key, value, ttl); err != nil {
			return err
		}
	}
	if element, ok := s.entries[string(key)]; ok {
		s.order.MoveToFront(element)
		element.Value.(*lruEntry).value = slices.Clone(value)
		return nil
	}
	s.entries[string(key)] = s.order.PushFront(&lruEntry{string(key), slices.Clone(value)})
	if s.order.Len() > s.capacity {
		last := s.order.Remove(s.order.Back()).(*lruEntry)
		delete(s.entries, last.key)
		s.evicted++
	}
	return nil
}

func (s *lruStore) Stats() StoreStats {
	return StoreStats{Evictions: s.evicted, Expired: Unknown, Bytes: Unknown}
}

func (s *lruStore) Close() error {
	s.closed++
	return nil
}

// listSource is a source of given requests that ends with an error, or io.EOF.
type listSource struct {
	requests []workload.Request
	total    int
	err      error
	closed   int
}

func (s *listSource) Read(dst []workload.Request) (int, error) {
	s.total = max(s.total, len(s.requests))
	n := copy(dst, s.requests)
	s.requests = s.requests[n:]
	if n == 0 {
		return 0, s.err
	}
	return n, nil
}

func (s *listSource) Done() float64 {
	return 1 - float64(len(s.requests))/float64(max(s.total, 1))
}

func (s *listSource) Close() error {
	s.closed++
	return nil
}
