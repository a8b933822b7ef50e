package httpcache

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn"
)

// fieldsKept is how long the list of the fields that a URL's responses vary by is kept.
const fieldsKept = 365 * day

// errVoid says that a response was purged while it was under way.
var errVoid = errors.New("httpcache: purged meanwhile")

// put stores the head of the flight's response, unless it has been purged.
func (f *flight) put(ttl time.Duration) bool {
	key := f.x.primary
	if names, _ := varyFields(f.head.lines.header()); len(names) > 0 {
		id, ok := f.putFields(key, names)
		if !ok {
			return false
		}
		key = variantKey(key, id, names, f.asker.Header)
	}
	h := *f.head
	if h.status != http.StatusNoContent && h.lines.get("Content-Length") == "" {
		h.lines = h.lines.with("Content-Length", decimal(h.size)) // so that no hit has to make it
	}
	return f.putHead(key, &h, f.tags, ttl)
}

// putFields has the list of fields be at a primary key, and returns its id. A new list makes
// all older variants of the URL unreachable.
func (f *flight) putFields(primary string, names []string) (bodyID, bool) {
	if now, ok := f.c.heads.Get(primary); ok && slices.Equal(now.fields, names) {
		return now.id, true
	}
	list := &head{id: newID(), fields: names}
	return list.id, f.putHead(primary, list, nil, fieldsKept)
}

// putHead stores a head as the value of a load: so a removal of the key, or an
// invalidation of a tag, that begins meanwhile has it not be stored. It may have shared the load of another flight
// with the key, and that be void.
func (f *flight) putHead(key string, h *head, tags []string, ttl time.Duration) bool {
	err := errVoid
	for errors.Is(err, errVoid) && !f.isVoid() {
		err = f.loadHead(key, h, tags, ttl)
	}
	return err == nil
}

func (f *flight) loadHead(key string, h *head, tags []string, ttl time.Duration) error {
	_, err := f.c.heads.Refresh(context.Background(), key, func(ctx context.Context, _ string) (*head, error) {
		if err := firn.SetLoadTTL(ctx, ttl); err != nil {
			return nil, err
		}
		if len(tags) > 0 {
			if err := firn.SetLoadTags(ctx, tags...); err != nil {
				return nil, err
			}
		}
		if f.isVoid() {
			return nil, errVoid
		}
		return h, nil
	})
	return err
}

// find returns the stored response to a request, and the key that it has, or that one would
// have which is stored now. h is nil if there is none, and err says why.
func (c *Cache) find(ctx context.Context, primary string, req http.Header) (h *head, key string, err error) {
	found, err := c.heads.Lookup(ctx, primary)
	if err != nil || found.fields == nil {
		return found, primary, err
	}
	key = variantKey(primary, found.id, found.fields, req)
	found, err = c.heads.Lookup(ctx, key)
	return found, key, err
}

// storedHeader is a header as it is stored: without the fields of the connection and those that each
// answer gets.
func storedHeader(h http.Header) http.Header {
	out := endToEnd(h)
	delete(out, "Age")
	return out
}

// tagsOf are the tags of a response, of Cache-Tag and Surrogate-Key. It is not ok if there are
// more than a value can have, or too long ones.
func tagsOf(h http.Header) (tags []string, ok bool) {
	for tag := range members(h["Cache-Tag"]) {
		tags = append(tags, tag)
	}
	for _, line := range h["Surrogate-Key"] {
		tags = append(tags, strings.Fields(line)...)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	for _, tag := range tags {
		if len(tag) > 255 {
			return nil, false
		}
	}
	return tags, len(tags) <= firn.MaxTags
}
