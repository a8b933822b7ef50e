// Command slowquery serves reports over HTTP whose SQL query reads a whole
// table of a SQLite file, and caches them. Requests for one report at one moment
// wait for one query; once there is a report, nobody waits: while it is made
// anew, the old one is served.
//
//	slowquery sales.db
//	curl localhost:8080/reports/customer-7
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/firncache/firn"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Reports answers requests for customers' reports.
type Reports struct {
	db      *sql.DB
	cache   *firn.Cache
	queries atomic.Int64 // that were run
}

// Report sums up what a customer bought.
type Report struct {
	Customer string
	Sales    int64
	Cents    int64
}

// cacheOptions call a report fresh for a minute. For ten more it is served
// stale, while the query runs in the background. That a customer does not exist
// is remembered for a few seconds.
var cacheOptions = firn.Options{
	RAMBytes: 64 << 20,
	TTL:      time.Minute,
	Loading: firn.LoadingOptions{
		StaleWhileRevalidate: 10 * time.Minute,
		NegativeTTL:          5 * time.Second,
		MaxLoads:             4, // queries at a time
	},
}

// ServeHTTP answers GET /reports/{customer}.
func (r *Reports) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	key := []byte(req.PathValue("customer"))
	report, err := r.cache.GetOrLoad(req.Context(), nil, key, r.query)
	switch {
	case errors.Is(err, firn.ErrNotFound):
		http.Error(w, "no such customer", http.StatusNotFound)
	case err != nil:
		log.Printf("report of %q: %v", key, err)
		http.Error(w, "no report at the moment", http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(report)
	}
}

// query makes a report. It is the cache's loader: however many requests wait for
// a report, it runs once. Its context ends when the last of them has gone, unless
// it runs in the background.
func (r *Reports) query(ctx context.Context, key []byte) ([]byte, error) {
	r.queries.Add(1)
	report := Report{Customer: string(key)}
	err := r.db.QueryRowContext(ctx,
		`SELECT count(*), coalesce(sum(cents), 0) FROM sales WHERE customer = ?`, report.Customer,
	).Scan(&report.Sales, &report.Cents)
	switch {
	case err != nil:
		return nil, err
	case report.Sales == 0:
		return nil, firn.ErrNotFound
	}
	return json.Marshal(report)
}

// Handler serves the reports.
func (r *Reports) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /reports/{customer}", r)
	return mux
}

func run(file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fill(db); err != nil {
		return err
	}
	cache, err := firn.Open(cacheOptions)
	if err != nil {
		return err
	}
	defer cache.Close()
	reports := &Reports{db: db, cache: cache}
	log.Print("http://localhost:8080/reports/customer-7")
	return http.ListenAndServe("localhost:8080", reports.Handler())
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: slowquery FILE.db")
	}
	log.Fatal(run(os.Args[1]))
}
