package live

import (
	"net/http"

	"github.com/firncache/firn"
)

// Handler serves the page about some caches. It may be mounted under any path that ends
// in a slash.
func Handler(caches ...*firn.Cache) http.Handler { return New(Options{Caches: unnamed(caches)}) }

// Options describe a page.
type Options struct {
	// Caches are those to show, in this order.
	Caches []Named
}

// Named is a cache and what the page calls it.
type Named struct {
	Name  string // default: "cache 1" for the first
	Cache *firn.Cache
}

// New makes a page.
func New(Options) http.Handler { return http.NotFoundHandler() }

func unnamed(caches []*firn.Cache) (list []Named) {
	for _, c := range caches {
		list = append(list, Named{Cache: c})
	}
	return list
}
