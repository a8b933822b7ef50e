package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
)

// site serves reports of a SQLite file of its own, with a clock that stands
// still.
type site struct {
	*Reports
	handler http.Handler
	now     atomic.Int64 // nanoseconds
}

func serve(t *testing.T) *site {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "sales.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := fill(db); err != nil {
		t.Fatal(err)
	}
	s := &site{}
	opts := cacheOptions
	opts.Clock = func() time.Time { return time.Unix(0, s.now.Load()) }
	cache, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	s.Reports = &Reports{db: db, cache: cache}
	s.handler = s.Handler()
	return s
}

// get asks for a report.
func (s *site) get(t *testing.T, customer string) (report Report, status int) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/reports/"+customer, nil))
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &report); err != nil {
			t.Errorf("%s: %v", w.Body, err)
		}
	}
	return report, w.Code
}

// sell adds a sale of one cent.
func (s *site) sell(t *testing.T, customer string) {
	t.Helper()
	if _, err := s.db.Exec(`INSERT INTO sales VALUES (?, 1)`, customer); err != nil {
		t.Fatal(err)
	}
}

// Fifty requests for one report run one query.
func TestOneQuery(t *testing.T) {
	s := serve(t)
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if r, status := s.get(t, "customer-7"); status != http.StatusOK || r.Customer != "customer-7" || r.Sales != 1000 {
				t.Errorf("%+v, status %d", r, status)
			}
		})
	}
	wait.Wait()
	if n := s.queries.Load(); n != 1 {
		t.Errorf("%d queries, want 1", n)
	}
}

func TestNoSuchCustomer(t *testing.T) {
	s := serve(t)
	if _, status := s.get(t, "nobody"); status != http.StatusNotFound {
		t.Errorf("status %d, want %d", status, http.StatusNotFound)
	}
	if _, status := s.get(t, "customer-7"); status != http.StatusOK {
		t.Errorf("status %d, want %d", status, http.StatusOK)
	}
	s.db.Close()
	if _, status := s.get(t, "customer-8"); status != http.StatusInternalServerError {
		t.Errorf("status %d without a database, want %d", status, http.StatusInternalServerError)
	}
	if _, status := s.get(t, "customer-7"); status != http.StatusOK {
		t.Errorf("status %d for a cached report, want %d", status, http.StatusOK)
	}
}

// A stale report is served at once, while one query makes a new one.
func TestStaleWhileRevalidate(t *testing.T) { synctest.Test(t, staleWhileRevalidate) }

func staleWhileRevalidate(t *testing.T) {
	s := serve(t)
	s.get(t, "customer-7")
	s.sell(t, "customer-7")
	s.now.Add(int64(cacheOptions.TTL - time.Second))
	if r, _ := s.get(t, "customer-7"); r.Sales != 1000 || s.queries.Load() != 1 {
		t.Errorf("fresh: %d sales after %d queries, want 1000 after 1", r.Sales, s.queries.Load())
	}
	s.now.Add(int64(2 * time.Second))
	if r, _ := s.get(t, "customer-7"); r.Sales != 1000 {
		t.Errorf("stale: %d sales, want the 1000 of before", r.Sales)
	}
	synctest.Wait() // for the query
	if r, _ := s.get(t, "customer-7"); r.Sales != 1001 {
		t.Errorf("after the query: %d sales, want 1001", r.Sales)
	}
	if n := s.queries.Load(); n != 2 {
		t.Errorf("%d queries, want 2", n)
	}
}

// A report that is too old even to be stale is made while the request waits.
func TestTooOld(t *testing.T) {
	s := serve(t)
	s.get(t, "customer-7")
	s.sell(t, "customer-7")
	s.now.Add(int64(cacheOptions.TTL + cacheOptions.Loading.StaleWhileRevalidate + time.Second))
	if r, _ := s.get(t, "customer-7"); r.Sales != 1001 || s.queries.Load() != 2 {
		t.Errorf("%d sales after %d queries, want 1001 after 2", r.Sales, s.queries.Load())
	}
}

// That there is no such customer is remembered, for a while.
func TestNegative(t *testing.T) {
	s := serve(t)
	for _, step := range []struct {
		advance time.Duration
		queries int64
	}{{0, 1}, {cacheOptions.Loading.NegativeTTL - time.Second, 1}, {2 * time.Second, 2}} {
		s.now.Add(int64(step.advance))
		if _, status := s.get(t, "nobody"); status != http.StatusNotFound || s.queries.Load() != step.queries {
			t.Errorf("%v later: status %d after %d queries, want %d after %d", step.advance, status, s.queries.Load(), http.StatusNotFound, step.queries)
		}
	}
}
