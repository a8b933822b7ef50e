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
	Misses      uint64 // by the origin, or with 504 where only-if-cached found nothing
	Failed      uint64 // not answered by the origin, which failed or panicked, nor by a stale one
	Coalesced   uint64 // of misses and revalidated ones: those that waited for another request's response
	Bypassed    uint64 // not looked up: methods, and requests that want no stored response
	Stored      uint64 // responses that were stored
	Purged      uint64 // purges by URL, by tag and of all, and invalidations by unsafe methods
	Aborted     uint64 // answers that ended early, as a part of them was gone and could not be had again
	SavedBytes  uint64 // of bodies that were sent, and did not come from the origin
}

// Counters yields Stats one by one, for the live page and other programs that publish them:
// live.Named{Name: "api", Cache: cache, Counters: responses.Counters}.
func (c *Cache) Counters(yield func(name, help string, value uint64)) {
	s := c.Stats()
	yield("http_hits", "Requests answered by a fresh stored response.", s.Hits)
	yield("http_stale", "Requests answered by a stale stored response.", s.Stale)
	yield("http_revalidated", "Requests answered by a stored response that the origin had confirmed.", s.Revalidated)
	yield("http_misses", "Requests answered by the origin.", s.Misses)
	yield("http_failed", "Requests that the origin failed to answer.", s.Failed)
	yield("http_coalesced", "Requests that waited for another request's response.", s.Coalesced)
	yield("http_bypassed", "Requests that were not looked up.", s.Bypassed)
	yield("http_stored", "Responses stored.", s.Stored)
	yield("http_purged", "Purges and invalidations.", s.Purged)
	yield("http_aborted", "Answers that ended early.", s.Aborted)
	yield("http_saved_bytes", "Bytes of bodies sent that did not come from the origin.", s.SavedBytes)
}

// counters are those of Stats.
type counters struct {
	hits, stale, revalidated, misses, failed, coalesced, bypassed, stored, purged, aborted, savedBytes atomic.Uint64
}

// Stats are the counters of the cache.
func (c *Cache) Stats() Stats {
	n := &c.stats
	return Stats{
		Hits: n.hits.Load(), Stale: n.stale.Load(), Revalidated: n.revalidated.Load(), Misses: n.misses.Load(),
		Failed: n.failed.Load(), Coalesced: n.coalesced.Load(), Bypassed: n.bypassed.Load(), Stored: n.stored.Load(), Purged: n.purged.Load(),
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
