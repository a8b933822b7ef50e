package hybrid

import (
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

var bboltEngine = Engine{
	Name: "bbolt", Module: "go.etcd.io/bbolt",
	Setup: "no sync, free list as a map and not saved, concurrent Sets through Batch; its memory is the page cache",
	Open:  openBbolt,
}

var bucket = []byte("b")

type bboltStore struct {
	db      *bbolt.DB
	setting atomic.Int32 // Sets under way
}

func openBbolt(c Config) (Store, error) {
	db, err := bbolt.Open(filepath.Join(c.Dir, "bolt"), 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoGrowSync: true})
	if err != nil {
		return nil, err
	}
	db.MaxBatchDelay = 100 * time.Microsecond
	db.MaxBatchSize = max(c.Readers, 1)
	err = db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err })
	return &bboltStore{db: db}, err
}

func (s *bboltStore) Get(dst, key []byte) (value []byte, ok bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucket).Get(key)
		ok = v != nil
		dst = append(dst, v...)
		return nil
	})
	return dst, ok, err
}

func (s *bboltStore) Set(key, value []byte) error {
	put := func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, value) }
	defer s.setting.Add(-1)
	if s.setting.Add(1) == 1 {
		return s.db.Update(put) // there is no other writer to share a transaction with
	}
	return s.db.Batch(put)
}

func (s *bboltStore) Load(n int, pair func(int) ([]byte, []byte)) error {
	const batch = 20_000
	for from := 0; from < n; from += batch {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucket)
			for i := from; i < min(from+batch, n); i++ {
				key, value := pair(i)
				if err := b.Put(append([]byte(nil), key...), append([]byte(nil), value...)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *bboltStore) Flush() error { return s.db.Sync() }
func (s *bboltStore) Close() error { return s.db.Close() }
