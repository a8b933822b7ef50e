package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/shared/sharedtest"
)

// Two processes miss a key at once: one loads it, and both have it then. The other's wait ends
// with the value, which it keeps, and is none of its loads.
func TestOneLoadOfAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		first := a.begin("k", a.loader("by a", nil, time.Second))
		second := b.begin("k", b.loader("by b", nil, time.Second))
		third := b.begin("k", b.loader("by b", nil, time.Second))
		answer(t, first, "by a", time.Second)
		answer(t, second, "by a", 0)
		answer(t, third, "by a", 0)
		synctest.Wait()
		if a.called != 1 || b.called != 0 {
			t.Errorf("%d and %d loaders were called, want 1 and 0", a.called, b.called)
		}
		if n := b.loads.Stats(); n.Loads != 0 || n.Active != 0 {
			t.Errorf("%d loads of the second, %d active", n.Loads, n.Active)
		}
		if n := b.store.SharedStats(); n.Hits == 0 {
			t.Error("no shared hit is counted")
		}
		a.local("k", "by a")
		b.local("k", "by a")
		onServer(t, server, "k", "by a")
	})
}

// What another process has loaded is an answer, with one request, and no load.
func TestLoadFindsSharedValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		a.expect("k", "by a", a.loader("by a", nil, 0), 1)
		before := b.tier.Calls()
		b.expect("k", "by a", b.loader("by b", nil, 0), 0)
		if n := b.tier.Calls() - before; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		b.local("k", "by a")
	})
}

// The holder of a lease that does not store its value is succeeded by one other process:
// when its lease is over if it says nothing, at once if it can say that it has failed. What
// it stores afterwards is refused.
func TestHolderOfLeaseEnds(t *testing.T) {
	type holder struct {
		options Options
		load    func(ctx context.Context, key []byte) ([]byte, error)
		after   time.Duration // when it gives up
		end     func(p *process)
	}
	hangs := func(context.Context, []byte) ([]byte, error) {
		time.Sleep(time.Minute)
		return []byte("late"), nil
	}
	fails := func(context.Context, []byte) ([]byte, error) {
		time.Sleep(time.Second)
		return nil, errSource
	}
	inBubbles(t, map[string]holder{
		"dies":        {load: hangs, after: 10 * time.Second, options: Options{HardTimeout: time.Hour}},
		"fails":       {load: fails, after: time.Second},
		"finds none":  {load: func(context.Context, []byte) ([]byte, error) { time.Sleep(time.Second); return nil, nil }, after: time.Second},
		"panics":      {load: func(context.Context, []byte) ([]byte, error) { time.Sleep(time.Second); panic("boom") }, after: time.Second},
		"hangs":       {load: hangs, after: 2 * time.Second, options: Options{HardTimeout: 2 * time.Second}},
		"is closed":   {load: hangs, after: 3 * time.Second, end: func(p *process) { time.Sleep(3 * time.Second); p.close() }},
		"is unwanted": {load: hangs, after: 4 * time.Second, options: Options{CancelUnwanted: true}},
	}, func(t *testing.T, x holder) {
		server := sharedtest.NewServer()
		server.AwaitTime = time.Minute
		a := beginProcess(t, server, x.options)
		b, c := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		go func() {
			defer func() { _ = recover() }()
			ctx, leave := context.WithTimeout(t.Context(), 4*time.Second)
			defer leave()
			_, _ = a.getOrLoad(ctx, "k", x.load)
		}()
		synctest.Wait()
		second := b.begin("k", b.loader("new", nil, time.Second))
		third := c.begin("k", c.loader("new", nil, time.Second))
		if x.end != nil {
			go x.end(a)
		}
		answer(t, second, "new", x.after+time.Second)
		answer(t, third, "new", 0)
		synctest.Wait()
		if b.called+c.called != 1 {
			t.Errorf("%d and %d loaders were called, want one", b.called, c.called)
		}
		b.local("k", "new")
		c.local("k", "new")
		time.Sleep(2 * time.Minute) // until then a's loader has returned, if it ever does
		synctest.Wait()
		onServer(t, server, "k", "new")
	})
}

// A load that waits for another process, and whose time for that is over, loads; so do those
// that find another lease again and again.
func TestWaitForLeaseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.LeaseTime, server.AwaitTime = time.Hour, 5*time.Second
		a, b := beginProcess(t, server, Options{HardTimeout: time.Hour}), beginProcess(t, server, Options{})
		first := a.begin("k", a.loader("by a", nil, 20*time.Second))
		second := b.begin("k", b.loader("by b", nil, time.Second))
		answer(t, second, "by b", 6*time.Second)
		onServer(t, server, "k", "by b")
		answer(t, first, "by a", 14*time.Second)
		synctest.Wait()
		onServer(t, server, "k", "by b") // the first that is stored wins
		a.expect("k", "by b", a.loader("again", nil, 0), 0)
	})
}

// While one process fails, others wait for one after the other, but not for many.
func TestFailuresOfManyProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		var all []*process
		var come []chan string
		for range 3 * maxWaits {
			p := beginProcess(t, server, Options{})
			all = append(all, p)
			come = append(come, p.begin("k", p.loader("", errSource, time.Second)))
		}
		began := time.Now()
		for i, p := range all {
			if got := <-come[i]; got != errSource.Error() || p.called != 1 {
				t.Errorf("process %d: %q, %d loads", i, got, p.called)
			}
		}
		if d := time.Since(began); d != (maxWaits+1)*time.Second {
			t.Errorf("the last has waited for %v", d)
		}
	})
}

// A key that is written in another process while it is loaded: those who wait get the value,
// and neither tier keeps it, whether or not a push has come.
func TestWriteElsewhereWinsOverLoad(t *testing.T) {
	type write struct {
		do    func(p *process)
		then  string
		clear bool
	}
	for name, pushed := range map[string]bool{"pushed": true, "not pushed yet": false} {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, map[string]write{
				"Set":    {do: func(p *process) { p.set("k", "set") }, then: "set"},
				"Delete": {do: func(p *process) { p.remove("k") }, then: none},
				"Clear": {func(p *process) {
					if err := p.store.Clear(); err != nil {
						t.Error(err)
					}
				}, none, true},
				"Set and Delete": {do: func(p *process) { p.set("k", "set"); p.remove("k") }, then: none},
			}, func(t *testing.T, x write) {
				for _, leases := range []bool{true, false} {
					if !leases && x.clear {
						continue // nothing tells of a Clear where there was nothing
					}
					server := sharedtest.NewServer()
					server.Leases = leases
					a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
					if !pushed {
						a.tier.HoldPushes()
					}
					slow := a.begin("k", a.loader("old", nil, time.Second))
					x.do(b)
					answer(t, slow, "old", time.Second)
					synctest.Wait()
					onServer(t, server, "k", x.then)
					a.local("k", none)
					a.tier.DeliverPushes()
					b.expect("k", map[bool]string{true: "new", false: x.then}[x.then == none], b.loader("new", nil, 0), map[bool]int{true: 1}[x.then == none])
				}
			})
		})
	}
}

// The same of a write in the process itself, whose callers that come then load anew.
func TestWriteHereWinsOverLoad(t *testing.T) {
	inBubbles(t, map[string]string{"Set": "set", "Delete": none}, func(t *testing.T, then string) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		slow := a.begin("k", a.loader("old", nil, time.Second))
		if then == none {
			a.remove("k")
		} else {
			a.set("k", then)
		}
		answer(t, slow, "old", time.Second)
		synctest.Wait()
		onServer(t, server, "k", then)
		a.local("k", then)
	})
}

// Callers that leave while another process loads cancel a wait that nobody wants; the next one
// waits anew.
func TestLeaveWhileAnotherLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		first := a.begin("k", a.loader("by a", nil, time.Second))
		ctx, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer leave()
		if _, err := b.getOrLoad(ctx, "k", b.loader("by b", nil, 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		if n := b.loads.Stats().Active; n != 0 {
			t.Errorf("%d loads are under way", n)
		}
		second := b.begin("k", b.loader("by b", nil, 0))
		answer(t, second, "by a", 700*time.Millisecond)
		answer(t, first, "by a", 0)
		if b.called != 0 {
			t.Errorf("%d loaders were called", b.called)
		}
	})
}
