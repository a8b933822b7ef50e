package remote

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/shared"
)

// The bounds of what is kept for a server, and of how it is sent.
const (
	maxKept      = 64 << 10 // names
	maxKeptBytes = 16 << 20 // of names
)

// removals are those that did not reach a server, or whose outcome is unknown: of entries, and
// of numbers, which are to be renewed. They are sent before any other request when the server is
// back, so that nobody here reads again what he has removed; what the server refuses is sent
// again, and until then reads of that name fail. Beyond the bounds, the oldest is dropped: what
// it was to remove stays until its deadline, or until it is written again. The caller was told
// by an error in any case.
//
// A value that somebody has set since the removal was asked for is removed too, unless it was
// this process: that is one load more.
type removals struct {
	kept    atomic.Int64  // len(byName)
	unsent  atomic.Int64  // unsentList.Len()
	dropped atomic.Uint64 // in all

	mu      sync.Mutex
	byName  map[string]*removal
	fresh   list.List // of *removal that were not sent, the oldest first
	refused list.List // of *removal that the server has refused
	bytes   int       // of names
	sender  *sender   // under way
}

// removal is a name to remove.
type removal struct {
	name    string
	refused bool
	at      *list.Element // of fresh, or of refused
}

// sender is one who sends what is kept, for all who wait.
type sender struct {
	done chan struct{} // closed at its end
	err  error         // valid then
}

// keep notes a name to remove.
func (r *removals) keep(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(r.byName[name])
	if r.byName == nil {
		r.byName = map[string]*removal{}
	}
	k := &removal{name: name}
	k.at = r.fresh.PushBack(k)
	r.byName[name] = k
	r.bytes += len(name)
	for len(r.byName) > maxKept || r.bytes > maxKeptBytes {
		r.drop(r.oldest())
		r.dropped.Add(1)
	}
	r.count()
}

// oldest is called with mu held.
func (r *removals) oldest() *removal {
	e := r.refused.Front()
	if e == nil {
		e = r.fresh.Front()
	}
	return e.Value.(*removal)
}

// drop is called with mu held.
func (r *removals) drop(k *removal) {
	if k == nil || r.byName[k.name] != k {
		return
	}
	delete(r.byName, k.name)
	r.bytes -= len(k.name)
	r.listOf(k).Remove(k.at)
	r.count()
}

func (r *removals) listOf(k *removal) *list.List {
	if k.refused {
		return &r.refused
	}
	return &r.fresh
}

// count is called with mu held.
func (r *removals) count() {
	r.kept.Store(int64(len(r.byName)))
	r.unsent.Store(int64(r.fresh.Len()))
}

// cancel forgets names that were written since.
func (r *removals) cancel(names ...string) {
	if r.kept.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		r.drop(r.byName[name])
	}
}

// has reports whether a name is to be removed.
func (r *removals) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name] != nil
}

// next are at most n of those that were not sent. They stay until end.
func (r *removals) next(n int) (batch []*removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.fresh.Front(); e != nil && len(batch) < n; e = e.Next() {
		batch = append(batch, e.Value.(*removal))
	}
	return batch
}

// sent forgets a removal, unless the name is to be removed once more.
func (r *removals) sent(k *removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(k)
}

// refuse notes that the server has refused a removal.
func (r *removals) refuse(k *removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[k.name] == k && !k.refused {
		r.fresh.Remove(k.at)
		k.refused = true
		k.at = r.refused.PushBack(k)
		r.count()
	}
}

// retry has at most n refused removals be sent again.
func (r *removals) retry(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.refused.Front(); e != nil && n > 0; e, n = r.refused.Front(), n-1 {
		k := e.Value.(*removal)
		r.refused.Remove(e)
		k.refused = false
		k.at = r.fresh.PushBack(k)
	}
	r.count()
}

// take are all names, which are kept no more.
func (r *removals) take() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range []*list.List{&r.refused, &r.fresh} {
		for e := l.Front(); e != nil; e = e.Next() {
			names = append(names, e.Value.(*removal).name)
		}
		l.Init()
	}
	clear(r.byName)
	r.bytes = 0
	r.count()
	return names
}

// begin makes the caller the sender, or says who is.
func (r *removals) begin() (s *sender, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sender != nil {
		return r.sender, false
	}
	r.sender = &sender{done: make(chan struct{})}
	return r.sender, true
}

// end ends what begin began.
func (r *removals) end(s *sender, err error) {
	r.mu.Lock()
	r.sender = nil
	r.mu.Unlock()
	s.err = err
	close(s.done)
}

// stats adds how many are kept, and how many could not be.
func (r *removals) stats(s *shared.Stats) {
	s.KeptRemovals += r.kept.Load()
	s.KeptRemovalsDropped += r.dropped.Load()
}
