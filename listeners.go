package firn

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

// listener is told of entries that leave the cache: an OnEvict.
type listener struct {
	causes ram.Causes
	wants  func(key []byte) bool // it is asked under locks; nil: all
	told   func(key, value []byte, cause Cause)
}

func (l *listener) listensTo(key []byte, cause ram.Cause) bool {
	return l.causes.Has(cause) && (l.wants == nil || l.wants(key))
}

// listeners are those of a cache. The tiers copy what one of them wants to be told of, and
// nothing else.
type listeners struct {
	mu  sync.Mutex // of changes
	all atomic.Pointer[[]*listener]
}

func (l *listeners) load() []*listener {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (l *listeners) tell(key, value []byte, cause ram.Cause) {
	for _, each := range l.load() {
		if each.listensTo(key, cause) {
			each.told(key, value, Cause(cause))
		}
	}
}

func (l *listeners) want(key []byte, cause ram.Cause) bool {
	return slices.ContainsFunc(l.load(), func(each *listener) bool { return each.listensTo(key, cause) })
}

// tellListeners makes the cache's listeners those whom the tiers tell. The tiers, which
// outlive a cache that nobody closed, do not hold on to it: a listener may refer to it.
func (c *Cache) tellListeners(cfg *tiered.Config) {
	w := weak.Make(c)
	cfg.Evicted = func(key, value []byte, cause ram.Cause) {
		if c := w.Value(); c != nil {
			c.listeners.tell(key, value, cause)
		}
	}
	cfg.Wants = func(key []byte, cause ram.Cause) bool {
		c := w.Value()
		return c != nil && c.listeners.want(key, cause)
	}
}

// listen has the tiers tell l until stop is called; an entry that left before may be told
// after it. With nil it does nothing.
func (c *Cache) listen(l *listener) (stop func()) {
	if l == nil {
		return func() {}
	}
	c.changeListeners(func(all []*listener) []*listener { return append(all, l) })
	return func() {
		c.changeListeners(func(all []*listener) []*listener {
			return slices.DeleteFunc(all, func(each *listener) bool { return each == l })
		})
	}
}

// changeListeners replaces the listeners by the result of change, which gets a copy.
func (c *Cache) changeListeners(change func([]*listener) []*listener) {
	l := &c.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	all := change(slices.Clone(l.load()))
	l.all.Store(&all)
	var causes ram.Causes
	for _, each := range all {
		causes |= each.causes
	}
	c.store.Tell(causes)
}

// listener is OnEvict, nil without.
func (o *Options) listener() *listener {
	if o.OnEvict == nil {
		return nil
	}
	causes, _ := causesOf(o.OnEvictCauses)
	return &listener{causes: causes, told: o.OnEvict}
}

// causesOf is the set of some causes, of which nil are the default.
func causesOf(list []Cause) (s ram.Causes, err error) {
	if list == nil {
		return ram.Gone, nil
	}
	for _, c := range list {
		if c > CauseInvalidated {
			return 0, fmt.Errorf("has %v: want causes up to %d, %v", c, CauseInvalidated, CauseInvalidated)
		}
		s |= ram.CausesOf(ram.Cause(c))
	}
	return s, nil
}
