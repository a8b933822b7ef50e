package ssd

import "sync"

// tasks are goroutines that are waited for. Unlike a sync.WaitGroup they may be
// waited for from outside the synctest bubble in which they were begun: the
// collector finds a forgotten tier when it likes. The zero value is ready.
type tasks struct {
	mu    sync.Mutex // a leaf
	n     int
	ended *sync.Cond // of mu: there is none; nil: none waits
}

// Go begins a task.
func (t *tasks) Go(f func()) {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
	go func() {
		defer t.end()
		f()
	}()
}

func (t *tasks) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.ended != nil {
		t.ended.Broadcast()
	}
}

// Wait returns when there is no task.
func (t *tasks) Wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = sync.NewCond(&t.mu)
	}
	for t.n > 0 {
		t.ended.Wait()
	}
}
