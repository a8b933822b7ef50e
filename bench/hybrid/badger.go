package hybrid

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

var badgerEngine = Engine{
	Name: "badger", Module: "github.com/dgraph-io/badger/v4",
	Setup: "values in the tree, block cache 1/4 and index cache 1/8 of the memory, two memtables of 1/16 (at most 64 MiB), no compression, no conflict detection, no sync",
	Open:  openBadger,
}

type badgerStore struct{ db *badger.DB }

func openBadger(c Config) (Store, error) {
	db, err := badger.Open(badger.DefaultOptions(c.Dir).
		WithLogger(nil).WithSyncWrites(false).WithDetectConflicts(false).WithMetricsEnabled(false).
		WithCompression(options.None).WithNumMemtables(2).WithMemTableSize(min(max(c.Memory/16, 8<<20), 64<<20)).
		WithValueThreshold(64 << 10).WithBlockCacheSize(c.Memory / 4).WithIndexCacheSize(c.Memory / 8).WithNumCompactors(2).
		WithValueLogFileSize(64 << 20))
	if err != nil {
		return nil, err
	}
	return badgerStore{db}, nil
}

func (s badgerStore) Get(dst, key []byte) (value []byte, ok bool, err error) {
	err = s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		ok = true
		return item.Value(func(v []byte) error { dst = append(dst, v...); return nil })
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		err = nil
	}
	return dst, ok, err
}

// Set copies: badger keeps the slices until the memtable is full.
func (s badgerStore) Set(key, value []byte) error {
	return s.db.Update(func(txn *badger.Txn) error {
		return txn.Set(append([]byte(nil), key...), append([]byte(nil), value...))
	})
}

func (s badgerStore) Load(n int, pair func(int) ([]byte, []byte)) error {
	b := s.db.NewWriteBatch()
	defer b.Cancel()
	for i := range n {
		key, value := pair(i)
		if err := b.Set(append([]byte(nil), key...), append([]byte(nil), value...)); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (s badgerStore) Flush() error { return s.db.Sync() }
func (s badgerStore) Close() error { return s.db.Close() }
