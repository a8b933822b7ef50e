package live

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/firncache/firn"
)

// Handler serves the page about some caches, as New does: they are called cache 1, cache 2
// and so on.
func Handler(caches ...*firn.Cache) http.Handler { return New(Options{Caches: unnamed(caches)}) }

// Options describe a page.
type Options struct {
	// Caches are those to show, in this order. The page does not keep them from being
	// collected: one that the program dropped is shown as closed.
	Caches []Named

	// Hosts are names under which the page is reached, without a port. A request that came to
	// a loopback address must have an IP address, localhost, the machine's own name or one of them
	// as its Host, so that no site that a browser visits can read the page by a name of its own
	// that leads to 127.0.0.1. With Hosts this holds for requests to all addresses. Default: none.
	Hosts []string

	// Statsviz is where the program serves Go's own panels, for a link: a URL, or a path from
	// the page on, such as "../statsviz/", or from the root. Default: no link.
	Statsviz string

	// HotKeys shows keys: those that are read most, of a sample of the reads that RAM answers, not a
	// front, taken while a viewer wants it. It says what is shown of a key, and shows nothing of one for which it returns nothing; so
	// it is where what may not be seen is left out, or hashed. key is encoded, as the cache has it, and
	// namespace that of a typed cache, empty for keys of the Cache itself. Default: nil, keys are not shown.
	HotKeys func(namespace string, key []byte) string

	// MaxViewers is how many may follow the figures at once; more get the status 503.
	// Default: 1,000.
	MaxViewers int
}

// Named is a cache and what the page calls it.
type Named struct {
	Name  string // one of its own; default: "cache 1" for the first
	Cache *firn.Cache

	// Counters yields what a package above the cache counts, such as Counters of an httpcache.Cache: on a card of
	// their own, and in metrics as firn_NAME_total. Names have lower-case letters, digits and _, and
	// differ from each other and from those of stats.Metrics; others are left out of metrics. It is called once a
	// second, and what it refers to is kept as long as the page. Default: none.
	Counters func(yield func(name, help string, value uint64))
}

// New makes a page. It may be mounted under any path that ends in a slash, behind
// http.StripPrefix, or behind a proxy that adds a prefix. It answers GET and HEAD alone.
//
// A timer has the figures of all caches taken once a second, for all viewers together, and
// those of the last 15 minutes kept: some 300 KB for each cache. It is not set again
// when all caches are closed or collected, or nothing has the handler any more; the page
// then shows the last figures. Streams of events end with their requests' contexts, and when
// their http.Server is shut down.
//
// New panics, as http.Handle does, for options that only a mistake in the program can bring: a
// cache that is nil or there twice, a name that is there twice, a negative MaxViewers, or a
// Statsviz that is no URL of a page.
func New(opts Options) http.Handler {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		panic(err)
	}
	return newPage(opts)
}

func (o Options) withDefaults() Options {
	o.Caches = slices.Clone(o.Caches)
	for i := range o.Caches {
		if o.Caches[i].Name == "" {
			o.Caches[i].Name = fmt.Sprintf("cache %d", i+1)
		}
	}
	if o.MaxViewers == 0 {
		o.MaxViewers = 1000
	}
	return o
}

func (o Options) validate() error {
	for i, c := range o.Caches {
		if c.Cache == nil {
			return fmt.Errorf("live: Options.Caches[%d].Cache is nil: want an open cache", i)
		}
		for j, other := range o.Caches[:i] {
			if other.Cache == c.Cache {
				return fmt.Errorf("live: Options.Caches[%d].Cache is that of Caches[%d], too: want each cache once", i, j)
			}
			if other.Name == c.Name {
				return fmt.Errorf("live: Options.Caches[%d].Name is %q, as that of Caches[%d]: want one of its own", i, c.Name, j)
			}
		}
	}
	if o.MaxViewers < 0 {
		return fmt.Errorf("live: Options.MaxViewers is %d: want at least 1, or 0 for the default", o.MaxViewers)
	}
	if !isLink(o.Statsviz) {
		return fmt.Errorf("live: Options.Statsviz is %q: want an http or https URL, or a path that begins with / or with a dot", o.Statsviz)
	}
	return nil
}

// isLink reports whether the page may lead to a URL; none is one.
func isLink(link string) bool {
	u, err := url.Parse(link)
	if err != nil || link == "" {
		return err == nil
	}
	return u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "" && (link[0] == '/' || link[0] == '.')
}

func unnamed(caches []*firn.Cache) (list []Named) {
	for _, c := range caches {
		list = append(list, Named{Cache: c})
	}
	return list
}
