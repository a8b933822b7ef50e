package vfstest

import (
	"path"
	"sync"
	"syscall"
	"time"
)

// Rule says which operations of a Faulty are met, and by what. All conditions
// must hold; a condition that is zero holds always.
type Rule struct {
	On          Kind          // kinds of operations
	Name        string        // a pattern as path.Match's for the file's name; for Rename, either name
	From, To    int64         // reads and writes that touch a byte in [From, To); To 0: to the end
	Match       func(Op) bool // anything else; called under the lock of the Faulty
	Skip        int           // the first so many that match pass
	Times       int           // how many are met after those; 0: all
	Probability float64       // of those, how many are met; 0: all

	// Effects, in this order: wait, be held, call, fail.

	Delay time.Duration // how long the operation waits
	Block bool          // held until Injection.Release: stuck I/O
	Hook  func(Op)      // called before the operation, with no lock held: a pause point
	Err   error         // it returns this instead of doing its work
	// Partial is how many bytes of a read or write are really done before Err,
	// rounded down to File.Align; -1 is any number of whole sectors. Without Err
	// the error is EIO.
	Partial int
	Mangle  func(op Op, p []byte) // changes the bytes that a read returns
}

// Injection is a Rule at work.
type Injection struct {
	rule     Rule
	faulty   *Faulty
	released chan struct{}
	release  sync.Once
	changed  *sync.Cond // of hits and waiting, on Faulty.mu

	// Guarded by Faulty.mu.
	seen, hits, waiting int
}

// Inject adds a rule. Rules act in the order in which they were added; the first
// error counts.
func (f *Faulty) Inject(r Rule) *Injection {
	if _, err := path.Match(r.Name, ""); err != nil {
		panic("vfs: rule with a bad pattern: " + r.Name)
	}
	if r.Partial != 0 && r.Err == nil {
		r.Err = syscall.EIO
	}
	in := &Injection{rule: r, faulty: f, released: make(chan struct{}), changed: sync.NewCond(&f.mu)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, in)
	return in
}

// Remove ends the rule, and releases the operations it holds.
func (in *Injection) Remove() {
	in.faulty.mu.Lock()
	for i, other := range in.faulty.rules {
		if other == in {
			in.faulty.rules = append(in.faulty.rules[:i:i], in.faulty.rules[i+1:]...)
			break
		}
	}
	in.faulty.mu.Unlock()
	in.Release()
}

// Release lets the operations go that Block holds, and holds no more.
func (in *Injection) Release() { in.release.Do(func() { close(in.released) }) }

// Hits is how many operations the rule met.
func (in *Injection) Hits() int {
	in.faulty.mu.Lock()
	defer in.faulty.mu.Unlock()
	return in.hits
}

// AwaitHits returns when the rule has met n operations.
func (in *Injection) AwaitHits(n int) { in.await(func() bool { return in.hits >= n }) }

// AwaitBlocked returns when the rule holds n operations.
func (in *Injection) AwaitBlocked(n int) { in.await(func() bool { return in.waiting >= n }) }

func (in *Injection) await(done func() bool) {
	in.faulty.mu.Lock()
	defer in.faulty.mu.Unlock()
	for !done() {
		in.changed.Wait()
	}
}

// matches decides whether the rule meets op, under Faulty.mu.
func (in *Injection) matches(op Op) bool {
	r := &in.rule
	if r.On != 0 && r.On&op.Kind == 0 || !r.matchesName(op) || !r.matchesRange(op) || r.Match != nil && !r.Match(op) {
		return false
	}
	in.seen++
	if in.seen <= r.Skip || r.Times > 0 && in.hits >= r.Times {
		return false
	}
	if r.Probability > 0 && in.faulty.rng.Float64() >= r.Probability {
		return false
	}
	in.hits++
	in.changed.Broadcast()
	return true
}

func (r *Rule) matchesName(op Op) bool {
	if r.Name == "" {
		return true
	}
	name, _ := path.Match(r.Name, op.Name)
	to, _ := path.Match(r.Name, op.To)
	return name || to && op.To != ""
}

func (r *Rule) matchesRange(op Op) bool {
	if r.From == 0 && r.To == 0 {
		return true
	}
	return op.Kind&(OpRead|OpWrite) != 0 && op.Off+op.Len > r.From && (r.To == 0 || op.Off < r.To)
}

// meet does the effects that come before the operation.
func (in *Injection) meet(op Op) {
	if in.rule.Delay > 0 {
		time.Sleep(in.rule.Delay)
	}
	if in.rule.Block {
		in.hold()
	}
	if in.rule.Hook != nil {
		in.rule.Hook(op)
	}
}

func (in *Injection) hold() {
	in.wait(1)
	<-in.released
	in.wait(-1)
}

func (in *Injection) wait(change int) {
	in.faulty.mu.Lock()
	defer in.faulty.mu.Unlock()
	in.waiting += change
	in.changed.Broadcast()
}
