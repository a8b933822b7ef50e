// Package httpcache is an HTTP cache as RFC 9111 says, over a firn.Cache: bounded in bytes, with an SSD and a
// shared tier if that has them.
//
//	responses, err := httpcache.New(cache, "api", httpcache.Options{})
//	client := &http.Client{Transport: responses.Transport(nil)}           // for clients, and for httputil.ReverseProxy
//	server := &http.Server{Handler: responses.Handler(mux)}               // middleware
//
// It is a shared cache, which answers the requests of many users, unless Options say that it is private.
// docs/HTTPCACHE.md has a table of what is stored when, and the rules by which nothing of one user's response
// reaches another.
//
// # What is an answer
//
//   - A stored response that is fresh, by s-maxage, max-age, Expires or a tenth of the time since
//     Last-Modified, and CDN-Cache-Control before all of them in a shared cache.
//   - A stale one that the origin confirms: it is asked with If-None-Match and If-Modified-Since.
//   - A stale one where the response allows it: stale-while-revalidate, stale-if-error; or the client: max-stale.
//   - A part of one, for Range; a 304, for the If-None-Match and If-Modified-Since of a client; its
//     header, for HEAD.
//   - The response that an equal request has just caused, while it is still on its way.
//
// Each answer says in its Cache-Status field, RFC 9211, what it was.
//
// # Requests under way
//
// Equal requests are one request of the origin, if its response may be stored and is fresh: whoever waits
// gets the body while it comes, at its own speed; but where a body is too long to be stored, a client that takes
// more than 5 s for a chunk of it is left behind by the others. No request joins one whose origin has sent nothing
// for 10 s, and what no client waits for ends after a minute of that. Requests with Authorization, Range or no-cache are not
// one with others. When the response turns out to be for one client alone the others ask the origin
// themselves, and for a minute no request of that key waits for another. An unsafe method, a purge or an invalidated tag
// voids what is under way: it is neither stored nor joined later.
//
// # Faults
//
// Where the cache is full, closed, or its disk fails, the origin's response reaches the client as without a
// cache. A body is stored as a whole or not at all. If a part of a stored body is evicted while it
// is sent, the rest is asked for with Range and If-Range; without a strong entity tag, or if the origin has
// another body by then, the answer is broken off: it never ends as if it were whole.
//
// # Limits
//
// Responses to methods other than GET, parts of bodies (206), responses with trailers, with a header of more than
// 64 KiB, with Vary of more than 16 fields or with more than firn.MaxTags tags are not stored. A purge voids what
// this process has under way, and what is stored for all; a request that another process had sent to
// the origin before may store its response afterwards.
package httpcache

// The files of the package:
//
//	cache.go        Cache, Options
//	serve.go        the way of a request: found, joined, or sent to the origin
//	exchange.go     a client's request
//	key.go          its key
//	answer.go       what the client gets: stored, or from a flight
//	transport.go    Transport
//	handler.go      Handler: answers
//	recorder.go     the Handler behind, as an origin
//	flight.go       a request of the origin under way
//	flights.go      all of them, and which keys wait for none
//	stream.go       a body on its way, into the cache and to clients
//	bodies.go       the chunks of stored bodies
//	head.go         a stored response without its body, and its bytes
//	store.go        storing and finding heads, Vary, tags
//	purge.go        Purge, PurgeTag, PurgeAll, and what unsafe methods do
//	policy.go       what may be stored, and how long it is fresh
//	reuse.go        what a stored response is good for
//	conditional.go  If-None-Match and its like, 304
//	ranges.go       Range, If-Range, and the rest of a body, of which a part was evicted
//	vary.go         the fields that a response varies by
//	control.go      Cache-Control
//	structured.go   structured fields, for CDN-Cache-Control
//	fields.go       lists, dates and numbers in fields
//	stats.go        Stats, Cache-Status
//
// Its words:
//
//	head       a response without its body; lines: its fields, as they are stored
//	chunk      a part of a body, an entry of its own; inline: of a short body, which lies with its head
//	primary    the key of a URL; variant: one of several responses that a URL has, by the fields of Vary
//	flight     a request of the origin under way; direct: its response is for one client alone
//	void       of a flight: what it brings is older than a purge
