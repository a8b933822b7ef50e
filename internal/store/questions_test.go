package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// clustered are numbers of a process whose trust is that of a cluster: a push of a number says
// nothing of the answers of other servers.
func clustered(p *process) *fleet.Numbers {
	tier, _ := p.Shared()
	return fleet.NewNumbers(tier, shared.NewTrust(shared.Slots, 0), 0, p.Closed)
}

// With several servers a write's number is asked for when the write is over.
func TestNumbersLatestInCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none func()
		server := sharedtest.NewServer()
		a, b, id := numbered(t, server, &none), numbered(t, server, &none), tagID("a")
		n := clustered(b)
		c, err := n.Ask(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if latest, err := n.Latest(t.Context(), c); latest != c || err != nil {
			t.Errorf("the number is another: %v, %v", latest, err)
		}
		b.tier.HoldPushes()
		want := a.renew(id)
		if latest, err := n.Latest(t.Context(), c); err != nil || latest.Value != want {
			t.Errorf("the number is %v, %v: want %x", latest, err, want)
		}
		b.tier.SetOnline(false)
		if _, err := n.Latest(t.Context(), c); err == nil {
			t.Error("no error")
		}
	})
}

// Who asks while a question is under way gets the answer of the next, which many share.
func TestNumbersAskedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served func()
		release := make(chan struct{})
		server := sharedtest.NewServer()
		a, b, id := numbered(t, server, new(func())), numbered(t, server, &served), tagID("a")
		n := clustered(b)
		served = func() { <-release }
		old := a.number(id)
		var first, later sync.WaitGroup
		first.Go(func() {
			if c, err := n.AskShared(t.Context(), id, flight.After); err != nil || c.Value != old {
				t.Errorf("the first got %v, %v: want %x", c, err, old)
			}
		})
		synctest.Wait() // it has its answer, which is on its way
		want := a.renew(id)
		before := b.tier.Called("Number")
		var wrong atomic.Int64
		for range 100 {
			later.Go(func() {
				if c, err := n.AskShared(t.Context(), id, flight.After); err != nil || c.Value != want {
					wrong.Add(1)
				}
			})
		}
		synctest.Wait()
		close(release)
		first.Wait()
		later.Wait()
		if wrong.Load() != 0 {
			t.Errorf("%d of 100 got the number from before they asked", wrong.Load())
		}
		if asked := b.tier.Called("Number") - before; asked != 1 {
			t.Errorf("they asked %d times: want once", asked)
		}
	})
}
