package firn

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/firncache/firn/internal/enumtext"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/store"
)

// Cause says why an entry left the cache.
type Cause uint8

// The causes. CauseDemoted and CauseSSDEvicted are reported on request: see Options.OnEvictCauses.
const (
	CauseCapacity    Cause = iota // its room was needed for others
	CauseExpired                  // its time was over
	CauseReplaced                 // its key was set again
	CauseDeleted                  // its key was deleted, or the cache was cleared
	CauseDemoted                  // its room in RAM was needed, and it lives on in the SSD tier
	CauseSSDEvicted               // its room in the SSD tier was needed, and RAM did not have it
	CauseInvalidated              // a copy: another process changed its entry in the shared tier, or that left
	CauseQuota                    // its namespace had more than TypedOptions.MaxBytes
)

func (c Cause) String() string {
	return enumtext.Name(c, "capacity", "expired", "replaced", "deleted", "demoted", "ssd_evicted", "invalidated", "quota")
}

// listener is an OnEvict, for entries that leave the cache.
type listener struct {
	causes evicted.Causes
	wants  func(key []byte) bool // runs under locks; nil: all
	told   func(key, value []byte, cause Cause)
}

func (l *listener) listensTo(key []byte, cause evicted.Cause) bool {
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

func (l *listeners) tell(key, value []byte, cause evicted.Cause) {
	for _, each := range l.load() {
		if each.listensTo(key, cause) {
			each.told(key, value, Cause(cause))
		}
	}
}

func (l *listeners) want(key []byte, cause evicted.Cause) bool {
	return slices.ContainsFunc(l.load(), func(each *listener) bool { return each.listensTo(key, cause) })
}

// hear makes the listeners those whom the tiers tell. The tiers, which outlive a cache that
// nobody closed, do not hold on to it, of which l is a part: a listener may refer to it.
func (l *listeners) hear(cfg *store.Config) {
	w := weak.Make(l)
	cfg.Evicted = func(key, value []byte, cause evicted.Cause) {
		if l := w.Value(); l != nil {
			l.tell(key, value, cause)
		}
	}
	cfg.Wants = func(key []byte, cause evicted.Cause) bool {
		l := w.Value()
		return l != nil && l.want(key, cause)
	}
}

// listen has the tiers tell one more until stop is called; an entry that left before may be
// told after it.
func (l *listeners) listen(store *store.Store, one *listener) (stop func()) {
	l.change(store, func(all []*listener) []*listener { return append(all, one) })
	return func() {
		l.change(store, func(all []*listener) []*listener {
			return slices.DeleteFunc(all, func(each *listener) bool { return each == one })
		})
	}
}

// change replaces the listeners by the result of f, which gets a copy.
func (l *listeners) change(store *store.Store, f func([]*listener) []*listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := f(slices.Clone(l.load()))
	l.all.Store(&all)
	var causes evicted.Causes
	for _, each := range all {
		causes |= each.causes
	}
	store.Tell(causes)
}

// listenerOf is an OnEvict with its causes, nil without.
func listenerOf(onEvict func(key, value []byte, cause Cause), list []Cause) *listener {
	if onEvict == nil {
		return nil
	}
	causes, _ := causesOf(list)
	return &listener{causes: causes, told: onEvict}
}

// causesOf is the set of some causes, of which nil are the default.
func causesOf(list []Cause) (s evicted.Causes, err error) {
	if list == nil {
		return evicted.Gone, nil
	}
	for _, c := range list {
		if c > CauseQuota {
			return 0, fmt.Errorf("has %v: want causes up to %d, %v", c, CauseQuota, CauseQuota)
		}
		s |= evicted.CausesOf(evicted.Cause(c))
	}
	return s, nil
}
