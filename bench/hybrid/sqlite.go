package hybrid

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	_ "github.com/mattn/go-sqlite3" // registers the driver; needs cgo
)

var sqliteEngine = Engine{
	Name: "sqlite", Module: "github.com/mattn/go-sqlite3",
	Setup: "cgo; WAL, synchronous off, WITHOUT ROWID, page cache 1/4 of the memory over all connections, prepared statements, one writer",
	Open:  openSQLite,
}

type sqliteStore struct {
	db       *sql.DB
	get, set *sql.Stmt
	writer   sync.Mutex // SQLite has one writer; waiting here is cheaper than its error for being busy
}

func openSQLite(c Config) (Store, error) {
	connections := min(max(c.Readers, 1), 16)
	kib := max(c.Memory/4/int64(connections)/1024, 256)
	dsn := fmt.Sprintf("file:%s?_journal_mode=WAL&_synchronous=OFF&_cache_size=-%d&_busy_timeout=60000", filepath.Join(c.Dir, "sqlite.db"), kib)
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := &sqliteStore{db: db}
	if err := s.prepare(); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func (s *sqliteStore) prepare() (err error) {
	if _, err = s.db.Exec("CREATE TABLE IF NOT EXISTS t (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID"); err != nil {
		return err
	}
	if s.get, err = s.db.Prepare("SELECT v FROM t WHERE k = ?"); err != nil {
		return err
	}
	s.set, err = s.db.Prepare("INSERT INTO t VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v")
	return err
}

func (s *sqliteStore) Get(dst, key []byte) ([]byte, bool, error) {
	var v sql.RawBytes
	rows, err := s.get.Query(key)
	if err != nil {
		return dst, false, err
	}
	ok := rows.Next()
	if ok {
		if err = rows.Scan(&v); err == nil {
			dst = append(dst, v...)
		}
	}
	return dst, ok, errors.Join(err, rows.Err(), rows.Close())
}

func (s *sqliteStore) Set(key, value []byte) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	_, err := s.set.Exec(key, value)
	return err
}

func (s *sqliteStore) Load(n int, pair func(int) ([]byte, []byte)) error {
	const batch = 50_000
	for from := 0; from < n; from += batch {
		tx, err := s.db.BeginTx(context.Background(), nil)
		if err != nil {
			return err
		}
		set := tx.Stmt(s.set)
		for i := from; i < min(from+batch, n); i++ {
			key, value := pair(i)
			if _, err := set.Exec(key, value); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqliteStore) Flush() error {
	_, err := s.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

func (s *sqliteStore) Close() error {
	return errors.Join(s.get.Close(), s.set.Close(), s.db.Close())
}
