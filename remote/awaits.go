package remote

import (
	"sync"
	"sync/atomic"
)

// awaits are those who wait for a name to be changed, by anybody: by a push, or by this
// process, whose own writes the server does not announce.
type awaits struct {
	waiting atomic.Int64
	mu      sync.Mutex
	byName  map[string]*await
}

// await is a name that is waited for.
type await struct {
	changed chan struct{} // closed then
	waiting int
}

// join begins to wait: a read of the name that follows misses no later change.
// leave ends it.
func (a *awaits) join(name string) (changed <-chan struct{}, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.byName[name]
	if w == nil {
		if a.byName == nil {
			a.byName = map[string]*await{}
		}
		w = &await{changed: make(chan struct{})}
		a.byName[name] = w
	}
	w.waiting++
	a.waiting.Add(1)
	return w.changed, func() { a.leave(name, w) }
}

func (a *awaits) leave(name string, w *await) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.Add(-1)
	if w.waiting--; w.waiting == 0 && a.byName[name] == w {
		delete(a.byName, name)
	}
}

// wake ends the waits for a name.
func (a *awaits) wake(name string) {
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.byName[name]; w != nil {
		close(w.changed)
		delete(a.byName, name)
	}
}

// wakeAll ends all of them: changes may have been missed.
func (a *awaits) wakeAll() {
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.byName {
		close(w.changed)
	}
	clear(a.byName)
}
