package typed

import (
	"fmt"
	"runtime"
	"weak"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/store"
)

// Namespaces are those of a cache that are in use. They do not keep them from being
// collected.
type Namespaces struct {
	common
	open    map[registry.ID]weak.Pointer[Namespace] // and some that were forgotten since the last sweep
	watched bool                                    // sweep is called after the next collection
}

// Shape makes a shape for Open.
func (n *Namespaces) Shape(keys string, values codec.Fingerprint, text string) *Shape {
	return &Shape{of: &n.common, keys: keys, fingerprint: values, text: text}
}

// Open is the namespace of a name, for one more user. It waits for nothing. It fails
// with ErrClosed, and where other users have values of another meaning, or other terms.
func (n *Namespaces) Open(store *store.Store, label string, shape *Shape, terms Terms) (*Namespace, error) {
	id := shape.idOf(label)
	if store.Numbers() == nil {
		store.OpenRegistry() // which may evict, and calls the user then
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store = store
	if store.Closed() {
		return nil, local.ErrClosed
	}
	if s := n.open[id].Value(); s != nil {
		if s.shape.fingerprint != shape.fingerprint {
			return nil, fmt.Errorf("it has %s while another typed cache of the namespace, not closed yet, has %s: want the same, or another name", shape.text, s.shape.text)
		}
		if err := terms.differ(s.terms()); err != nil {
			return nil, err
		}
		s.users++
		return s, nil
	}
	s := &Namespace{Label: label, shape: shape, users: 1}
	if err := s.begin(id, terms); err != nil {
		return nil, fmt.Errorf("namespace %q: %w", label, err)
	}
	n.add(id, s)
	return s, nil
}

// HaveQuota reports whether the namespace of a name is in use with a quota of so many bytes.
func (n *Namespaces) HaveQuota(shape *Shape, label string, bytes int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.open[shape.idOf(label)].Value()
	return s != nil && bytes > 0 && s.Quota().Max() == bytes
}

// add adds a namespace to those in use. The caller holds mu.
func (n *Namespaces) add(id registry.ID, s *Namespace) {
	if n.open == nil {
		n.open = map[registry.ID]weak.Pointer[Namespace]{}
	}
	n.open[id] = weak.Make(s)
	n.watch()
	if q := s.Quota(); q != nil {
		runtime.AddCleanup(s, closeQuota, forgotten{weak.Make(n), id, q})
	}
}

// forgotten names an unreachable namespace, without keeping its cache.
type forgotten struct {
	of    weak.Pointer[Namespaces]
	id    registry.ID
	quota *local.Quota
}

// closeQuota closes the quota of a namespace, unless one of its name is in use again.
func closeQuota(f forgotten) {
	n := f.of.Value()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open[f.id].Value() == nil {
		f.quota.Close()
	}
}

// Close ends one use of a namespace.
func (n *Namespaces) Close(s *Namespace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(n.open, s.id())
		s.Quota().Close()
	}
}

// watch has swept called when the garbage has been collected next. A cleanup for each namespace
// would take as much memory as half of that. The caller holds mu.
func (n *Namespaces) watch() {
	if !n.watched {
		n.watched = true
		runtime.AddCleanup(new(garbage), swept, weak.Make(n))
	}
}

// garbage is collected when the garbage is.
type garbage struct{ _ *garbage } // not so small that others are kept with it

func swept(w weak.Pointer[Namespaces]) {
	n := w.Value()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = false
	n.sweep()
	if len(n.open) > 0 {
		n.watch()
	}
}

// sweep takes the unreachable ones out, as long as it meets one among so many,
// which stand in no order: a few may stay. The caller holds mu.
func (n *Namespaces) sweep() {
	const enough = 256
	alive := 0
	for id, s := range n.open {
		if s.Value() == nil {
			delete(n.open, id)
			alive = 0
		} else if alive++; alive == enough {
			return
		}
	}
}

// All are the namespaces in use.
func (n *Namespaces) All() (all []*Namespace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, open := range n.open {
		if s := open.Value(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Len is how many namespaces are in use.
func (n *Namespaces) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}
