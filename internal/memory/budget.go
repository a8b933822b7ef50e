package memory

import (
	"log/slog"
	"sync/atomic"
)

// Budget is the adaptive budget of a cache, in bytes.
type Budget struct {
	Least int64
	Log   *slog.Logger

	// Of is the cache's budget, what it holds, and the least that the budget may be for
	// what the cache must hold. It reports false when there is no cache any more.
	Of func() (budget, resident, least int64, ok bool)
	// Resize changes the cache's budget.
	Resize func(bytes int64) error

	most  atomic.Int64
	watch *Watcher
}

// Start has the budget follow the memory that is free from now on, up to most. Its fields
// are set.
func (b *Budget) Start(most int64) {
	b.watch = Process
	b.most.Store(most)
	b.watch.Join(b)
}

// Stop ends that. A change may be under way still.
func (b *Budget) Stop() { b.watch.Leave(b) }

// Most is the most that the budget may be.
func (b *Budget) Most() int64 { return b.most.Load() }

// SetMost changes the most, and the budget to that.
func (b *Budget) SetMost(bytes int64) error {
	before := b.most.Swap(bytes)
	err := b.Resize(bytes)
	if err != nil {
		b.most.CompareAndSwap(bytes, before)
	}
	return err
}

// State implements Cache.
func (b *Budget) State() (State, bool) {
	budget, resident, least, ok := b.Of()
	most := b.Most()
	return State{budget, resident, min(max(least, b.Least), most), most}, ok
}

// SetBudget implements Cache. It logs the first step down from the most, and the last
// one up to it.
func (b *Budget) SetBudget(bytes int64) {
	before, _, _, ok := b.Of()
	if !ok || b.Resize(bytes) != nil {
		return // closed; or the cache must hold more than a moment ago, and the next look knows
	}
	switch most := b.Most(); most {
	case before:
		b.Log.Info("firn: memory is short, the RAM budget shrinks", "bytes", bytes, "most", most, "least", b.Least)
	case bytes:
		b.Log.Info("firn: memory is free again, the RAM budget is whole", "bytes", bytes)
	}
}
