package aio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ring is the engine of io_uring and of libaio. A caller submits its own
// reads, and while it is there settles the completions, for others too. While few
// reads are in flight one of them looks for more (collect). When all of them wait, the
// kernel's eventfd wakes the reaper through Go's poller, so that no goroutine holds a
// processor of Go's while the disk works. docs/internals/DECISIONS.md,
// "SSD tier", has what else was tried.
//
// Pushing and reaping happen under Reader.mu; submitting is guarded by its flag.
type ring struct {
	r          *Reader
	q          kernelQueue
	of         string      // the name of the kernel's interface
	slots      []*op       // the reads pushed or in the kernel, by tag
	free       []uint32    // slots without a read
	solos      int         // calls in a row of one read that found nothing in flight
	broken     atomic.Bool // the kernel takes no more reads: preads do them
	submitting atomic.Bool
	retrying   atomic.Bool
	collectFor int64       // ns; 0: callers do not
	collecting atomic.Bool // one of them does
	aside      func()      // submits in a goroutine of its own

	event *os.File // the eventfd
	poll  syscall.RawConn
	gone  chan struct{} // closed when the reaper has ended
}

// reapStep is how many completions are taken at a time.
const reapStep = 64

// newRing takes the queue over, and closes it if there is an error.
func newRing(r *Reader, q kernelQueue, of string) (*ring, error) {
	g := &ring{r: r, q: q, of: of, slots: make([]*op, r.depth), gone: make(chan struct{})}
	if q.Polled() && !q.MayWait() && runtime.GOMAXPROCS(0) > 1 {
		g.collectFor = collectTime
	}
	g.aside = func() {
		g.submitNow()
		r.endKick()
	}
	for i := range r.depth {
		g.free = append(g.free, uint32(i))
	}
	g.event = os.NewFile(uintptr(q.TakeEventFD()), "eventfd of "+of)
	err := g.event.SetReadDeadline(time.Time{}) // fails unless Go's poller has it
	if err == nil {
		g.poll, err = g.event.SyscallConn()
	}
	if err != nil {
		g.event.Close()
		q.Close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	go g.reaper()
	return g, nil
}

func (g *ring) start(o *op) {
	if g.broken.Load() {
		go o.run()
		return
	}
	o.slot = g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	g.slots[o.slot] = o
	g.push(o)
}

// push hands over the rest of a read.
func (g *ring) push(o *op) {
	g.q.Push(o.mem[o.done:], o.off+int64(o.done), uint64(o.slot))
}

// takeSlot ends the ring's part in a read.
func (g *ring) takeSlot(tag uint64) *op {
	o := g.slots[tag]
	g.slots[tag] = nil
	g.free = append(g.free, uint32(tag))
	return o
}

func (g *ring) kick() {
	g.submit()
	g.reap()
}

// submit returns when the kernel has everything that was pushed before, or
// another goroutine is about to give it. It does not wait.
func (g *ring) submit() {
	switch {
	case g.q.Pushed() == 0:
	case !g.q.MayWait():
		g.submitNow()
	case !g.submitting.Load():
		g.r.kicks.Add(1)
		go g.aside()
	}
}

// submitNow gives the kernel the pushed reads. One at a time does: the kernel would
// make the others wait anyway.
func (g *ring) submitNow() {
	for g.q.Pushed() > 0 && g.submitting.CompareAndSwap(false, true) {
		err := g.q.Submit()
		if err != nil && !short(err) {
			g.withdraw()
		}
		g.submitting.Store(false) // and look again, for those who found it set
		if short(err) {
			g.retry()
			return
		}
	}
}

// short reports whether an error of Submit says that the kernel is short of
// something, and wants to be asked again later.
func short(err error) bool {
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENOMEM)
}

// retry submits once more in a while.
func (g *ring) retry() {
	if !g.retrying.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(time.Millisecond, func() {
		g.retrying.Store(false)
		g.r.mu.Lock()
		g.r.launch()
	})
}

// withdraw leaves the reads that the kernel does not take to preads, for ever.
func (g *ring) withdraw() {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	g.broken.Store(true)
	for _, tag := range g.q.Withdraw() {
		go g.takeSlot(tag).run()
	}
}

// reaper settles reads whenever the kernel signals one, until the eventfd is
// closed.
func (g *ring) reaper() {
	defer close(g.gone)
	_ = g.poll.Read(func(uintptr) (done bool) {
		for g.reap() {
		}
		return false
	})
}

// reap settles the completions, starts the reads that waited for their slots, and reports
// whether there was anything.
func (g *ring) reap() bool {
	if !g.q.Ready() {
		return false
	}
	var done [reapStep]*call
	r, n := g.r, 0
	now := r.now()
	r.mu.Lock()
	for range reapStep {
		tag, res, ok := g.q.Reap()
		if !ok {
			break
		}
		if call := g.complete(tag, res, now); call != nil {
			done[n] = call
			n++
		}
	}
	r.startQueued()
	r.mu.Unlock()
	g.submit()
	for _, c := range done[:n] {
		c.wake <- struct{}{}
	}
	return true
}

// A caller collects while at most so many reads are in flight, and they take no longer than
// collectTime: beyond that the wake-ups are shared by enough reads, or too rare to wait for.
// One that is alone does so up to aloneTime: then a pread takes a fifth longer and half the
// processor's time.
const (
	collectReads = 8
	collectTime  = 200_000 // ns
	aloneTime    = 80_000  // ns
	// collectTurns ends it where no time passes, as in a synctest bubble.
	collectTurns = 10_000
)

// collect has a caller that would only wait look for completions, its own and those of
// others, and reports whether its call was settled. It yields to every goroutine that can run.
// A completion that it finds costs no wake-up of a thread, a third of the time of a read from a
// fast disk. One caller at a time does so; the reaper is there for what it leaves.
func (g *ring) collect(c *call) (settled bool) {
	if g.collectFor == 0 || !g.collecting.CompareAndSwap(false, true) {
		return false
	}
	defer g.collecting.Store(false)
	r := g.r
	r.mu.Lock()
	worth := c.left > 0 && r.inFlight <= collectReads && r.usual <= g.collectFor
	if worth {
		r.kicks.Add(1) // c keeps the Reader from being drained until here
		defer r.endKick()
	}
	r.mu.Unlock()
	if !worth {
		return false
	}
	until := r.now() + g.collectFor
	for turns := 0; turns < collectTurns && r.now() < until; turns++ {
		g.reap()
		select {
		case <-c.wake:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

// complete settles a read, or goes on with it.
func (g *ring) complete(tag uint64, res int32, now int64) *call {
	o := g.slots[tag]
	if undone(res) {
		go g.takeSlot(tag).run()
		return nil
	}
	err := g.judge(o, res)
	if err == nil && o.done < o.n {
		g.push(o)
		return nil
	}
	return g.r.settle(g.takeSlot(tag), err, now)
}

// undone reports whether the kernel gave a read back without having done it: it
// was interrupted, would have had to wait (libaio), or the thread that submitted
// it ended. A pread does it then.
func undone(res int32) bool {
	switch unix.Errno(-res) {
	case unix.EINTR, unix.EAGAIN, unix.ECANCELED:
		return true
	}
	return false
}

// judge counts the bytes of a completion. Without an error the read is complete,
// or was short and goes on.
func (g *ring) judge(o *op, res int32) error {
	switch {
	case res < 0:
		return o.failed(unix.Errno(-res))
	case res == 0:
		return o.failed(io.ErrUnexpectedEOF)
	}
	o.done += int(res)
	if o.done < o.n && int64(o.done)%g.r.align != 0 {
		return o.failed(io.ErrUnexpectedEOF) // only the file's end is not aligned
	}
	return nil
}

func (g *ring) alone(inFlight, reads int) bool {
	collects := g.collectFor > 0 && g.r.usual <= aloneTime
	if collects || inFlight > 0 || reads > 1 {
		g.solos = 0
		return false
	}
	g.solos++
	return g.solos > soloReads
}

func (g *ring) close() {
	g.event.Close()
	<-g.gone
	g.q.Close()
}

func (g *ring) name() string {
	if g.broken.Load() {
		return "pread"
	}
	return g.of
}

func (g *ring) bytes() int64 { return g.q.Bytes() }
