package live

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
)

// hotKeys counts the keys of a sample of a cache's reads, while requests for them come.
type hotKeys struct {
	mu     sync.Mutex
	asked  time.Time // the last request
	since  time.Time // that counts begin
	counts map[inside.Key]int
	reads  int
}

const (
	hotPause    = 15 * time.Second // without a request, after which counts are forgotten
	maxHotKeys  = 1 << 14          // that are counted at once
	shownKeys   = 20
	hotInterval = time.Minute // after which counts are halved: what was hot once cools
)

// hotKey is a key as the page shows it.
type hotKey struct {
	Namespace string  `json:"namespace,omitempty"`
	Key       string  `json:"key"` // redacted
	Share     float64 `json:"share"`
}

// take counts what was read since the last frame, if there was a request of late.
func (h *hotKeys) take(c *firn.Cache, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c == nil || h.counts == nil {
		return
	}
	if time.Since(h.asked) > hotPause {
		h.counts = nil
		return
	}
	for _, k := range inside.Keys(c) {
		h.counts[k]++
		h.reads++
	}
	if at.Sub(h.since) > hotInterval || len(h.counts) > maxHotKeys {
		h.cool(at)
	}
}

// cool halves the counts.
func (h *hotKeys) cool(at time.Time) {
	h.since, h.reads = h.since.Add(at.Sub(h.since)/2), 0
	for k, n := range h.counts {
		if h.counts[k] = n / 2; n < 2 {
			delete(h.counts, k)
		}
		h.reads += n / 2
	}
}

// most are the keys that were read most; redact says what is shown of them, nothing to leave one out.
func (h *hotKeys) most(now time.Time, redact func(namespace string, key []byte) string) (list []hotKey, reads int, seconds float64) {
	h.mu.Lock()
	if h.asked = time.Now(); h.counts == nil {
		h.counts, h.reads, h.since = map[inside.Key]int{}, 0, now
	}
	counts, reads, seconds := maps.Clone(h.counts), h.reads, max(now.Sub(h.since).Seconds(), 0)
	h.mu.Unlock()
	byCount := func(a, b inside.Key) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a.Bytes, b.Bytes)) }
	for _, k := range slices.SortedFunc(maps.Keys(counts), byCount)[:min(len(counts), shownKeys)] {
		if text := redact(k.Namespace, []byte(k.Bytes)); text != "" && counts[k] > 1 { // one of a sample says nothing
			list = append(list, hotKey{k.Namespace, text, float64(counts[k]) / float64(reads)})
		}
	}
	return list, reads, seconds
}
