package aio

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

// openCollecting opens a reader with libaio whose callers collect without a limit of time.
// nil: the machine has none.
func openCollecting(t *testing.T, a *altered) *Reader {
	t.Helper()
	if !available(t, LibAIO) {
		return nil
	}
	r := openAltered(t, newFile(t, 4096), LibAIO, 64, a)
	a.ring.collectFor = math.MaxInt64 / 2
	return r
}

// TestCollect: a caller finds its completion though nothing wakes it.
func TestCollect(t *testing.T) {
	var polls atomic.Int64
	r := openCollecting(t, &altered{silent: true, polls: func() bool { return polls.Add(1) > 100 }})
	if r == nil {
		return
	}
	buf, err := r.Read(context.Background(), 0, 4096)
	check(t, Request{N: 4096, Buf: buf, Err: err})
	if n := r.Stats().Reads; n != 1 || polls.Load() <= 100 {
		t.Errorf("%d reads came back after %d polls", n, polls.Load())
	}
}

// TestCollectEnds where no time passes, and the reaper does the rest.
func TestCollectEnds(t *testing.T) {
	var polls atomic.Int64
	a := &altered{stuck: func(int64) bool { return true }, polls: func() bool { polls.Add(1); return true }}
	r := openCollecting(t, a)
	if r == nil {
		return
	}
	go func() {
		eventually(t, "the caller gives up", func() bool { return polls.Load() >= collectTurns && !a.ring.collecting.Load() })
		a.release(t)
	}()
	buf, err := r.Read(context.Background(), 0, 4096)
	check(t, Request{N: 4096, Buf: buf, Err: err})
}

// TestCollectWhere it pays: few reads in flight, which come back soon, and no other
// caller who does it.
func TestCollectWhere(t *testing.T) {
	var polls atomic.Int64
	a := &altered{polls: func() bool { polls.Add(1); return true }}
	r := openCollecting(t, a)
	if r == nil {
		return
	}
	g := a.ring
	for _, c := range []struct {
		name     string
		left     int
		inFlight int
		usual    int64
		taken    bool
		want     bool
	}{
		{"one read", 1, 1, 0, false, true},
		{"as many as it pays for", 1, collectReads, g.collectFor, false, true},
		{"many reads", 1, collectReads + 1, 0, false, false},
		{"a slow disk", 1, 1, g.collectFor + 1, false, false},
		{"a settled call", 0, 1, 0, false, false},
		{"another caller collects", 1, 1, 0, true, false},
	} {
		polls.Store(0)
		r.mu.Lock()
		r.inFlight, r.usual = c.inFlight, c.usual
		r.mu.Unlock()
		g.collecting.Store(c.taken)
		g.collect(&call{left: c.left, wake: make(chan struct{}, 1)})
		if got := polls.Load() > 0; got != c.want {
			t.Errorf("%s: collected: %v, want %v", c.name, got, c.want)
		}
		g.collecting.Store(false)
	}
	r.mu.Lock()
	r.inFlight, r.usual = 0, 0
	r.mu.Unlock()
}

// TestCollectAlone: who reads alone from a fast disk collects, and leaves nothing to preads.
func TestCollectAlone(t *testing.T) {
	r := openCollecting(t, &altered{})
	if r == nil {
		return
	}
	for usual, want := range map[int64]bool{0: false, aloneTime: false, aloneTime + 1: true} {
		r.mu.Lock()
		r.usual = usual
		for range soloReads {
			r.engine.alone(0, 1)
		}
		if got := r.engine.alone(0, 1); got != want {
			t.Errorf("a read that usually takes %d ns: by pread: %v, want %v", usual, got, want)
		}
		r.mu.Unlock()
	}
}

// TestUsualTime: the time of a read follows what reads take.
func TestUsualTime(t *testing.T) {
	r := &Reader{}
	for range 50 {
		r.took(1000)
	}
	if r.usual < 990 || r.usual > 1000 {
		t.Errorf("%d ns after fifty reads of 1,000", r.usual)
	}
}

// TestCloseWhileCollecting: the queue outlives a caller that looks into it, also one
// whose read another goroutine has settled meanwhile.
func TestCloseWhileCollecting(t *testing.T) {
	inside, checked := make(chan struct{}), make(chan bool, 1)
	var a *altered
	var polls atomic.Int64
	a = &altered{stuck: func(int64) bool { return true }, polls: func() bool {
		if polls.Add(1) != 10 { // the first ones are of the submission and of the eventfd
			return true
		}
		close(inside)
		eventually(t, "the Reader is drained", func() bool { return a.ring.r.isDrained() })
		time.Sleep(20 * time.Millisecond) // ample for a Close that does not wait; with one that does it changes nothing
		checked <- a.isClosed()
		return true
	}}
	r := openCollecting(t, a)
	if r == nil {
		return
	}
	go func() {
		<-inside
		a.release(t)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	buf, err := r.Read(context.Background(), 0, 4096)
	check(t, Request{N: 4096, Buf: buf, Err: err})
	if <-checked {
		t.Error("the queue was closed under the caller")
	}
}

func (r *Reader) isDrained() bool {
	select {
	case <-r.drained:
		return true
	default:
		return false
	}
}
