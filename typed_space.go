package firn

import (
	"fmt"

	"github.com/firncache/firn/internal/typed"
)

// spaceName is the name of a typed cache's namespace among those of its Cache, of which
// others are not typed caches'. Keys that mean different things are in different ones.
func spaceName(namespace, keys string) string {
	return fmt.Sprintf("typed %q of %s", namespace, keys)
}

// typedClosedError is ErrClosed of a Typed on a cache that is open.
type typedClosedError struct{}

var errTypedClosed error = typedClosedError{}

func (typedClosedError) Error() string { return "firn: Typed is closed" }
func (typedClosedError) Unwrap() error { return ErrClosed }

// Close ends this Typed. Its calls find nothing from then on, and writes return
// ErrClosed; its hot values are gone, and its OnEvict called no more, but for an entry that
// left before. The entries stay in the Cache: other typed
// caches of the namespace have them, and the next NewTyped finds them. A Typed that
// is merely forgotten gives back as much, when the garbage is collected, unless it has
// OnEvict, which the Cache refers to. A second Close does nothing.
func (t *Typed[K, V]) Close() error {
	if t.closed.Swap(true) {
		return nil
	}
	t.closeHot()
	t.stopEvents()
	t.c.typed.spaces.Close(t.space)
	return nil
}

// Len is the number of entries of the namespace with this codec, version and types. It
// looks at every entry of the Cache: see Cache.All. Values that cannot be decoded
// count, and expired ones do not.
func (t *Typed[K, V]) Len() (n int) {
	for range t.raw {
		n++
	}
	return n
}

// TypedStats count the calls of all typed caches of a namespace, since it came into use
// in this process. Where many goroutines call at once, Hits, Misses, FrontHits, Sets
// and Deletes may be a little low.
type TypedStats struct {
	Hits, Misses uint64 // lookups past the hot values, those before a load or of a Compute included
	FrontHits    uint64
	Sets         uint64 // values stored by calls, not by loads
	Deletes      uint64 // keys deleted by calls, whether or not they were there
	Loads        uint64 // calls of loaders that have returned; one that loads many counts once
	LoadErrors   uint64 // of these, with an error other than ErrNotFound
	Mismatches   uint64 // values of another codec, version or type
	DecodeErrors uint64
}

// Stats are the counters of the namespace. They begin anew when all typed caches of it
// were closed or forgotten.
func (t *Typed[K, V]) Stats() (s TypedStats) {
	s.add(t.c, t.space)
	return s
}

// StatsByNamespace are the counters of the namespaces that are in use, by the names that NewTyped was
// given. Of namespaces of one name with keys of several types it has the sum.
func (c *Cache) StatsByNamespace() map[string]TypedStats {
	all := map[string]TypedStats{}
	for _, n := range c.typed.spaces.All() {
		s := all[n.Label]
		s.add(c, n)
		all[n.Label] = s
	}
	return all
}

// add adds the counters of a namespace.
func (s *TypedStats) add(c *Cache, n *typed.Namespace) {
	hits, misses, sets, deletes := n.Counters.Sum()
	s.Hits += hits
	s.Misses += misses
	s.Sets += sets
	s.Deletes += deletes
	s.FrontHits += n.Counters.FrontHits.Load() + c.typed.fronts.HitsOf(n.Current())
	s.Loads += n.Counters.Loads.Load()
	s.LoadErrors += n.Counters.LoadErrors.Load()
	s.Mismatches += n.Counters.Mismatches.Load()
	s.DecodeErrors += n.Counters.DecodeErrors.Load()
}
