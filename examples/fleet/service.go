package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// Service answers what things cost. Several processes of it share a server of Redis or Valkey.
type Service struct {
	cache  *firn.Cache
	prices *firn.Typed[string, int] // in cents, by the thing's name
	list   string                   // URL of the price list, which is slow and has the last word
	mux    http.ServeMux
}

// NewService makes a service whose caches lie above one server. All that is different from
// a service that is alone is the field Shared.
func NewService(list, server string) (*Service, error) {
	shared, err := remote.Open(remote.Options{Addrs: []string{server}, Namespace: "fleet", Staleness: bound, SoftTimeout: 20 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	cache, err := firn.Open(firn.Options{RAMBytes: 8 << 20, TTL: time.Hour, Shared: shared})
	if err != nil {
		return nil, err
	}
	prices, err := firn.NewTyped(cache, "prices", firn.TypedOptions[string, int]{})
	if err != nil {
		return nil, errors.Join(err, cache.Close())
	}
	s := &Service{cache: cache, prices: prices, list: list}
	s.mux.HandleFunc("GET /prices/{thing}", s.get)
	s.mux.HandleFunc("PUT /prices/{thing}", s.put)
	s.mux.HandleFunc("GET /stats", s.stats)
	return s, nil
}

// Answer is what the service says.
type Answer struct {
	Cents int
	From  string // the tier that had it, or the price list
}

// get answers a request for a price. With ?stale it rather says an old one than wait for the list.
func (s *Service) get(w http.ResponseWriter, r *http.Request) {
	ctx, thing := r.Context(), r.PathValue("thing")
	if r.URL.Query().Has("stale") {
		ctx = remote.With(ctx, remote.Call{Degraded: remote.DegradedStale, HasDegraded: true})
	}
	if e, err := s.prices.LookupEntry(ctx, thing); err == nil {
		reply(w, Answer{e.Value, e.Tier.String()})
		return
	}
	cents, err := s.prices.GetOrLoad(ctx, thing, s.fetch)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	reply(w, Answer{cents, "price list"})
}

// put changes a price: in the list first, and then for all processes.
func (s *Service) put(w http.ResponseWriter, r *http.Request) {
	thing, cents := r.PathValue("thing"), r.FormValue("cents")
	n, err := strconv.Atoi(cents)
	if err == nil {
		_, err = ask(r.Context(), http.MethodPut, s.list+"/"+thing+"?cents="+cents)
	}
	if err == nil {
		err = s.prices.SetWith(r.Context(), thing, n, firn.SetOptions{})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (s *Service) stats(w http.ResponseWriter, _ *http.Request) { reply(w, s.cache.Stats().Shared) }

// fetch is the loader: it asks the price list.
func (s *Service) fetch(ctx context.Context, thing string) (int, error) {
	text, err := ask(ctx, http.MethodGet, s.list+"/"+thing)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// ask makes a request, and returns the answer's body.
func ask(ctx context.Context, method, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", url, resp.Status, body)
	}
	return string(body), err
}
