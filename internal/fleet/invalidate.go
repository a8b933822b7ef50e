package fleet

import (
	"sync"
	"sync/atomic"
	"weak"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// pushReceiver is shared.Local: what the shared tier may call. It does not hold on to the
// store, so that one that was not closed can be collected.
type pushReceiver struct {
	store weak.Pointer[Fleet]
	now   func() int64
	grace *atomic.Int64
	seals int
}

func (l pushReceiver) Now() int64   { return l.now() }
func (l pushReceiver) Grace() int64 { return l.grace.Load() }
func (l pushReceiver) Seals() int   { return l.seals }

// Invalidate is a Delete of the write protocol: it voids the watches of reads, loads and
// Computes under way, empties fronts, and ends the copy on the SSD and its demotion.
func (l pushReceiver) Invalidate(key []byte) {
	s := l.store.Value()
	if s == nil {
		return
	}
	var ev evicted.List
	_ = s.local.Write(&local.Change{Op: local.OpDrop, Hash: s.local.RAM.Hash(key), Key: key, Cause: evicted.Invalidated, Evicted: &ev})
	s.shared.untold.add(ev)
}

func (l pushReceiver) InvalidateNumber(id shared.ID) {
	if n := l.numbers(); n != nil {
		n.InvalidateNumber(id)
	}
}

func (l pushReceiver) UsedNumbers(most int) []shared.ID {
	if n := l.numbers(); n != nil {
		return n.UsedNumbers(most)
	}
	return nil
}

func (l pushReceiver) ReadKeys() [][]byte {
	if s := l.store.Value(); s != nil {
		return s.local.ReadKeys()
	}
	return nil
}

// EpochChanged changes nothing: copies of an older epoch are not trusted.
func (l pushReceiver) EpochChanged() {}

func (l pushReceiver) numbers() *Numbers {
	if s := l.store.Value(); s != nil {
		return s.numberHook.Load()
	}
	return nil
}

// notifications are the records that a goroutine of its own reports to OnEvict: the goroutine
// that dropped them reads from the network. It ends when none are left.
type notifications struct {
	mu      sync.Mutex
	lists   []evicted.List
	bytes   int
	telling bool
	closed  bool
}

// maxUntold is how many bytes of records may wait for an OnEvict that is slow, before
// more are dropped.
const maxUntold = 16 << 20

func (u *notifications) add(ev evicted.List) {
	if ev.Empty() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || u.bytes > maxUntold {
		return
	}
	u.bytes += ev.Bytes()
	if u.lists = append(u.lists, ev); !u.telling {
		u.telling = true
		go u.run()
	}
}

// close drops the queue; one notification that has started may finish.
func (u *notifications) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lists, u.bytes, u.closed = nil, 0, true
}

// next takes the records of one push; false ends run.
func (u *notifications) next() (ev evicted.List, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.telling = len(u.lists) > 0; !u.telling {
		return ev, false
	}
	ev, u.lists = u.lists[0], u.lists[1:]
	u.bytes -= ev.Bytes()
	return ev, true
}

func (u *notifications) run() {
	for ev, ok := u.next(); ok; ev, ok = u.next() {
		ev.Notify()
	}
}
