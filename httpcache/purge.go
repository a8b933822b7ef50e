package httpcache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Purge removes the responses of a URL, all variants of it. When it returns nil no request that begins
// later gets one of them, nor one that the origin was asked for before. The key of the URL is that of a
// GET request for it: see Options.Key.
func (c *Cache) Purge(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	switch {
	case err != nil:
		return fmt.Errorf("httpcache: Purge: %w", err)
	case c.options.Key == nil && (r.URL.Scheme == "" || r.URL.Host == "" && r.URL.Opaque == ""):
		return fmt.Errorf("httpcache: Purge: the URL is %q: want one with scheme and host", url)
	}
	return c.PurgeRequest(r)
}

// PurgeRequest is Purge of what a GET request finds: where Options.Key makes the key of more than the
// URL, or where the Host field is not the URL's.
func (c *Cache) PurgeRequest(r *http.Request) error {
	c.stats.purged.Add(1)
	return c.remove(r.Context(), r)
}

// remove removes what a GET request finds, on either side.
func (c *Cache) remove(ctx context.Context, r *http.Request) error {
	var keys []string
	for _, s := range []side{client, server} {
		if key := c.primaryKey(s, r); key != "" { // or nothing of it is stored
			c.flights.invalidate(key)
			keys = append(keys, key)
		}
	}
	return c.heads.DeleteMulti(ctx, keys...)
}

// PurgeTag removes the responses that have a tag, in the same short time however many there are: the
// members of their Cache-Tag and Surrogate-Key fields. It holds for what the origin was asked for
// before, as with Purge. A response with more than firn.MaxTags tags, or with one of more than 255
// bytes, is not stored.
func (c *Cache) PurgeTag(ctx context.Context, tag string) error {
	c.stats.purged.Add(1)
	c.flights.invalidateTag(tag)
	return c.heads.InvalidateTag(ctx, tag)
}

// PurgeAll removes all responses, as Purge removes those of a URL.
func (c *Cache) PurgeAll(ctx context.Context) error {
	c.stats.purged.Add(1)
	c.flights.invalidate("")
	return c.heads.Clear(ctx)
}

// Close ends the use of the firn.Cache, which stays open: later requests go to the origin.
func (c *Cache) Close() error { return c.heads.Close() }

// isSafe reports whether a method is one that changes nothing at the origin.
func isSafe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// passed takes the head of a response that did not come through a flight: one to an unsafe method makes
// what is stored of its URLs invalid, RFC 9111, section 4.4, and one to HEAD may, section 4.3.5.
func (c *Cache) passed(s side, r *http.Request, status int, h http.Header) {
	switch {
	case invalidates(r.Method, status):
		c.stats.purged.Add(1)
		c.invalidate(r, h)
	case r.Method == http.MethodHead && status == http.StatusOK:
		c.compareHead(s, r, h)
	}
}

// invalidates reports whether a response says that what is stored of its URLs is no longer valid.
func invalidates(method string, status int) bool {
	return !isSafe(method) && status >= 200 && status < 400
}

func (c *Cache) invalidate(r *http.Request, h http.Header) {
	ctx := context.WithoutCancel(r.Context())
	errs := []error{c.invalidateURL(ctx, r, r.URL)}
	for _, name := range []string{"Location", "Content-Location"} {
		ref := h.Get(name)
		if ref == "" {
			continue
		}
		if u, err := r.URL.Parse(ref); err == nil && sameOrigin(r, u) {
			if r.URL.Host == "" { // a server's: it may be behind a proxy that ends TLS
				u.Scheme = r.URL.Scheme
			}
			errs = append(errs, c.invalidateURL(ctx, r, u))
		}
	}
	_ = errors.Join(errs...) // a cache that is closed, or a shared tier that is away: it makes up for removals
}

// sameOrigin reports whether a URL of a response is of the origin that the request went to.
func sameOrigin(r *http.Request, u *url.URL) bool {
	if u.Host == "" || u.Host == r.URL.Host {
		return u.Scheme == r.URL.Scheme
	}
	return r.URL.Host == "" && u.Host == r.Host
}

func (c *Cache) invalidateURL(ctx context.Context, r *http.Request, u *url.URL) error {
	get := r.Clone(ctx)
	get.Method, get.URL = http.MethodGet, u
	return c.remove(ctx, get)
}

// compareHead removes a stored response that the origin has replaced, as its answer to HEAD shows.
func (c *Cache) compareHead(s side, r *http.Request, h http.Header) {
	primary := c.primaryKey(s, r)
	if primary == "" {
		return
	}
	found, key, _ := c.find(r.Context(), primary, r.Header)
	if found == nil {
		return
	}
	for _, name := range []string{"Etag", "Last-Modified", "Content-Length"} {
		if was, is := found.lines.get(name), h.Get(name); was != "" && is != "" && was != is {
			_ = c.heads.Delete(key)
			return
		}
	}
}
