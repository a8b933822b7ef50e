package httpcache

import (
	"net/http"
	"sync/atomic"
)

// Stats count what has become of requests, since New.
type Stats struct {
	Hits        uint64 // answered by a fresh stored response
	Stale       uint64 // by one whose lifetime was over: while it was revalidated, or as the origin failed
	Revalidated uint64 // by one that the origin had confirmed for it
	Misses      uint64 // by the origin
	Coalesced   uint64 // of misses and revalidated ones: those that waited for another request's response
	Bypassed    uint64 // not looked up: methods, and requests that want no stored response
	Stored      uint64 // responses that were stored
	Purged      uint64 // purges by URL, by tag and of all, and invalidations by unsafe methods
	Aborted     uint64 // answers that ended early, as a part of them was evicted and could not be had again
	SavedBytes  uint64 // of bodies that were sent, and did not come from the origin
}

// Metric is a counter of Stats.
type Metric struct {
	Name  string // as Prometheus has it, without a prefix: "hits_total"
	Help  string
	Value func(*Stats) uint64
}

// Metrics are the counters of Stats, for programs that publish them.
func Metrics() []Metric {
	return []Metric{
		{"hits_total", "Requests answered by a fresh stored response.", func(s *Stats) uint64 { return s.Hits }},
		{"stale_total", "Requests answered by a stale stored response.", func(s *Stats) uint64 { return s.Stale }},
		{"revalidated_total", "Requests answered by a stored response that the origin had confirmed.", func(s *Stats) uint64 { return s.Revalidated }},
		{"misses_total", "Requests answered by the origin.", func(s *Stats) uint64 { return s.Misses }},
		{"coalesced_total", "Requests that waited for another request's response.", func(s *Stats) uint64 { return s.Coalesced }},
		{"bypassed_total", "Requests that were not looked up.", func(s *Stats) uint64 { return s.Bypassed }},
		{"stored_total", "Responses stored.", func(s *Stats) uint64 { return s.Stored }},
		{"purged_total", "Purges and invalidations.", func(s *Stats) uint64 { return s.Purged }},
		{"aborted_total", "Answers that ended early.", func(s *Stats) uint64 { return s.Aborted }},
		{"saved_bytes_total", "Bytes of bodies sent that did not come from the origin.", func(s *Stats) uint64 { return s.SavedBytes }},
	}
}

// counters are those of Stats.
type counters struct {
	hits, stale, revalidated, misses, coalesced, bypassed, stored, purged, aborted, savedBytes atomic.Uint64
}

// Stats are the counters of the cache.
func (c *Cache) Stats() Stats {
	n := &c.stats
	return Stats{
		Hits: n.hits.Load(), Stale: n.stale.Load(), Revalidated: n.revalidated.Load(), Misses: n.misses.Load(),
		Coalesced: n.coalesced.Load(), Bypassed: n.bypassed.Load(), Stored: n.stored.Load(), Purged: n.purged.Load(),
		Aborted: n.aborted.Load(), SavedBytes: n.savedBytes.Load(),
	}
}

// addStatus adds a member to the Cache-Status field, RFC 9211: after those of the caches that are nearer
// to the origin.
func (c *Cache) addStatus(h http.Header, params ...string) {
	if c.name == "" {
		return
	}
	var room [128]byte
	b := append(append(room[:0], c.name...), "; "...)
	for _, p := range params {
		b = append(b, p...)
	}
	before := h["Cache-Status"]
	h["Cache-Status"] = append(before[:len(before):len(before)], string(b))
}
