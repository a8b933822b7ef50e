package hybrid

import (
	"errors"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
)

var pebbleEngine = Engine{
	Name: "pebble", Module: "github.com/cockroachdb/pebble/v2",
	Setup: "block cache 3/8 of the memory, memtables of 1/16 (at most 64 MiB), bloom filters of 10 bits, no compression (the values cannot be compressed), two compactions at once, WAL without sync",
	Open:  openPebble,
}

type pebbleStore struct {
	db    *pebble.DB
	cache *pebble.Cache
}

func openPebble(c Config) (Store, error) {
	cache := pebble.NewCache(c.Memory * 3 / 8)
	opts := &pebble.Options{
		Cache: cache, MemTableSize: uint64(min(max(c.Memory/16, 1<<20), 64<<20)), MemTableStopWritesThreshold: 4,
		L0CompactionThreshold: 2, L0StopWritesThreshold: 1000, MaxOpenFiles: 4096, Logger: quiet{},
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		opts.Levels[i].Compression = func() *block.CompressionProfile { return block.NoCompression }
	}
	db, err := pebble.Open(c.Dir, opts)
	if err != nil {
		cache.Unref()
		return nil, err
	}
	return &pebbleStore{db, cache}, nil
}

func (s *pebbleStore) Get(dst, key []byte) ([]byte, bool, error) {
	v, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, err
	}
	dst = append(dst, v...)
	return dst, true, closer.Close()
}

func (s *pebbleStore) Set(key, value []byte) error { return s.db.Set(key, value, pebble.NoSync) }

func (s *pebbleStore) Load(n int, pair func(int) ([]byte, []byte)) error {
	const batchBytes = 1 << 20
	b := s.db.NewBatch()
	for i := range n {
		key, value := pair(i)
		if err := b.Set(key, value, nil); err != nil {
			return err
		}
		if b.Len() > batchBytes || i == n-1 {
			if err := b.Commit(pebble.NoSync); err != nil {
				return err
			}
			b = s.db.NewBatch()
		}
	}
	return s.Flush()
}

func (s *pebbleStore) Flush() error { return s.db.Flush() }

func (s *pebbleStore) Close() error {
	err := s.db.Close()
	s.cache.Unref()
	return err
}

// quiet is a pebble.Logger that keeps to itself all but fatal errors.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
