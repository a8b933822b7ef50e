package httpcache

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/firncache/firn"
)

const (
	// maxHeader is the longest header that is stored, in bytes.
	maxHeader = 64 << 10

	// maxKey is the longest key of a request; longer ones are not cached.
	maxKey = 8 << 10

	// day is how long responses are kept past their lifetime, unless Options say otherwise.
	day = 24 * time.Hour
)

// Options are those of a Cache. The zero Options make a shared cache, which answers the
// requests of many users.
type Options struct {
	// Private makes it the cache of one user, as that of an API client with one account.
	// It stores responses with Cache-Control: private, and responses to requests
	// with Authorization, and gives them to every request.
	// Default: a shared cache, which does not.
	Private bool

	// Key returns the key of a request: requests of one key get the same response. With ""
	// the request goes to the origin, and its response is not stored. Default: [DefaultKey].
	// Responses to unsafe methods, and Purge, find what is stored by it, too.
	Key func(*http.Request) string

	// Store reports whether a response may be stored that HTTP allows to store. It may change
	// nothing. Default: all are.
	Store func(req *http.Request, status int, header http.Header) bool

	// KeepStale is how long a response is kept when its lifetime is over, to be validated or to
	// be an answer while the origin fails. More than a response's stale-if-error is not
	// kept of one that cannot be validated. Default 0: a day.
	KeepStale time.Duration

	// MaxBodyBytes is the longest body that is stored, in bytes. Default 0: an eighth of the cache's
	// RAM and SSD. It is half of them at most.
	MaxBodyBytes int64

	// StatusName is the name of this cache in Cache-Status fields of responses, RFC 9211. Default: the name
	// of the cache. With "-" there is no such field.
	StatusName string
}

// Cache keeps the responses of origins in a firn.Cache. Its methods are safe for concurrent use.
type Cache struct {
	options Options
	shared  bool
	maxBody int64
	name    string                     // in Cache-Status; "" for none
	heads   *firn.Typed[string, *head] // nothing changes a head that is stored
	bodies  *bodies
	flights *flights
	stats   counters
}

// New makes a cache of responses in a cache of bytes, which may hold other entries too. The name
// is that of its entries: caches of one name in one firn.Cache, one after the other or in processes
// that share a tier, have the same responses, and need the same options.
func New(cache *firn.Cache, name string, o Options) (*Cache, error) {
	switch {
	case cache == nil:
		return nil, errors.New("httpcache: cache is nil: want one that firn.Open returned")
	case name == "":
		return nil, errors.New("httpcache: name is empty: want that of the responses' namespace")
	case o.KeepStale < 0:
		return nil, fmt.Errorf("httpcache: Options.KeepStale is %v: want 0 or more", o.KeepStale)
	case o.MaxBodyBytes < 0:
		return nil, fmt.Errorf("httpcache: Options.MaxBodyBytes is %d: want 0 or more", o.MaxBodyBytes)
	}
	heads, err := firn.NewTyped(cache, "httpcache "+name, firn.TypedOptions[string, *head]{Codec: headCodec{}, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	stats := cache.Stats()
	room := stats.RAM.Bytes + stats.SSD.Bytes
	c := &Cache{
		options: o, shared: !o.Private, heads: heads, flights: newFlights(),
		bodies:  &bodies{cache, chunkBytes(stats.RAM.Bytes)},
		maxBody: min(cmp.Or(o.MaxBodyBytes, room/8), room/2),
		name:    statusName(cmp.Or(o.StatusName, name)),
	}
	return c, nil
}

// statusName is a name as a Cache-Status field has it: a token or a string, RFC 8941, section 3.3.
func statusName(name string) string {
	switch {
	case name == "-":
		return ""
	case isToken(name) && isLower(name[0]|0x20):
		return name
	}
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return strconv.Quote(printable)
}

// newID is a random id.
func newID() (id bodyID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// keepFor is how long a response is kept: while it is fresh, and for as long as it may be used or
// validated afterwards.
func (c *Cache) keepFor(h *head, now time.Time) time.Duration {
	keep := cmp.Or(c.options.KeepStale, day)
	after := max(h.policy.whileRevalidating, h.policy.ifError)
	if h.lines.get("Etag") != "" || h.lines.get("Last-Modified") != "" {
		after = max(after, keep)
	} else {
		after = min(after, max(keep, h.policy.whileRevalidating))
	}
	return max(h.policy.lifetime-h.age(now), 0) + max(after, time.Second)
}

// refuses reports whether the user's hook does not want a response to be stored.
func (c *Cache) refuses(req *http.Request, status int, h http.Header) bool {
	return c.options.Store != nil && !c.options.Store(req, status, h)
}

// Transport returns a Transport over the RoundTripper next; nil is http.DefaultTransport.
func (c *Cache) Transport(next http.RoundTripper) *Transport {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Transport{c, next}
}

// Handler returns a Handler before the Handler next. The request that next gets has a context of its own, with
// its client's values: it outlives the client if others wait for the response, or if that is being stored and has
// a length. Of http.ResponseController, next has Flush and SetWriteDeadline.
//
// The key is made of the URL that the Handler gets: Handlers behind http.StripPrefix need Options.Key, or a Cache each.
// The responses of a Cache's Handlers are apart from those of its Transports.
func (c *Cache) Handler(next http.Handler) *Handler { return &Handler{c, next} }
