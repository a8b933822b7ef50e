package store

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// numbered is a process whose server calls reply when it has served a question for a number.
func numbered(t *testing.T, server *sharedtest.Server, reply *func()) *process {
	return begin(t, server, false, func(cfg *Config) {
		cfg.Shared.(*sharedtest.Tier).OnReply = func(call, _ string) {
			if f := *reply; call == "Number" && f != nil {
				*reply = nil
				f()
			}
		}
	})
}

func tagID(name string) registry.ID { return registry.IDOf(registry.Tag, name) }

// number is the number of an id as a process has it, asked for or not.
func (p *process) number(id registry.ID) uint64 {
	p.t.Helper()
	c, err := p.Numbers().Get(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return c.Value
}

func (p *process) renew(id registry.ID) uint64 {
	p.t.Helper()
	c, err := p.Numbers().Renew(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return c.Value
}

// latest demands that a process has the number that the server has.
func (p *process) latest(server *sharedtest.Server, id registry.ID) {
	p.t.Helper()
	var none func()
	n := numbered(p.t, server, &none).number(id)
	if got := p.number(id); got != n {
		p.t.Errorf("the number is %x: want %x", got, n)
	}
}

// The shared tier is told which numbers were an answer since it asked last, and how many it wants.
func TestUsedNumbers(t *testing.T) {
	var none func()
	p := numbered(t, sharedtest.NewServer(), &none)
	want := map[shared.ID]bool{}
	for i := range 40 {
		id := tagID(fmt.Sprint(i))
		p.number(id)
		if i%2 == 0 {
			p.number(id) // from its copy
			want[shared.ID(id)] = true
		}
	}
	got := map[shared.ID]bool{}
	for _, most := range []int{7, 100, 100} {
		ids := p.Numbers().UsedNumbers(most)
		for _, id := range ids {
			if !want[id] || got[id] {
				t.Errorf("%x was not used, or is there twice", id)
			}
			got[id] = true
		}
		if len(ids) > most {
			t.Errorf("%d numbers: want %d at most", len(ids), most)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d numbers: want %d", len(got), len(want))
	}
}

// Processes agree on numbers, and ask for one once.
func TestNumbersAgree(t *testing.T) {
	var none func()
	server := sharedtest.NewServer()
	a, b, id := numbered(t, server, &none), numbered(t, server, &none), tagID("a")
	if n := a.number(id); n == 0 || n != b.number(id) || n == a.number(tagID("b")) {
		t.Error("two processes do not agree, or two ids do")
	}
	before := a.tier.Calls()
	if a.number(id); a.tier.Calls() != before {
		t.Error("a number that is known is asked for")
	}
	n := b.renew(id)
	if a.number(id) != n || b.number(id) != n {
		t.Error("a renewal does not reach all")
	}
	a.tier.Disconnect()
	if before = a.tier.Calls(); a.number(id) != n || a.tier.Calls() == before {
		t.Error("a suspect number is not asked for")
	}
}

// What is asked for while a number changes is not kept: a change elsewhere, one here, and one
// that ends between.
func TestNumbersChangedWhileAsked(t *testing.T) {
	for name, meanwhile := range map[string]func(a, b *process, id registry.ID){
		"there": func(a, b *process, id registry.ID) { a.renew(id) },
		"here":  func(a, b *process, id registry.ID) { b.renew(id) },
		"an epoch": func(a, b *process, id registry.ID) {
			b.tier.HoldPushes()
			a.renew(id)
			b.tier.Disconnect()
			b.tier.DeliverPushes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var none, reply func()
			server := sharedtest.NewServer()
			a, b, id := numbered(t, server, &none), numbered(t, server, &reply), tagID("a")
			reply = func() { meanwhile(a, b, id) }
			b.number(id) // late
			b.latest(server, id)
			reply = func() { meanwhile(a, b, id) }
			b.renew(id)
			b.latest(server, id)
		})
	}
}

// Of two renewals from here nobody knows which the server did last.
func TestNumbersRenewedTwice(t *testing.T) {
	var reply func()
	server := sharedtest.NewServer()
	b, id := numbered(t, server, &reply), tagID("a")
	reply = func() { b.renew(id) } // overtakes
	b.renew(id)
	b.latest(server, id)
}

// A renewal that another one from here has overtaken on its way to the server is the last there.
func TestNumbersRenewalOvertaken(t *testing.T) {
	var leave, none func()
	server, id := sharedtest.NewServer(), tagID("a")
	b := crossing(t, server, &leave, &none)
	leave = func() { b.renew(id) }
	b.renew(id)
	b.latest(server, id)
}

// crossing is a process of which questions for numbers wait, at most once each: one that is on
// its way to the server for leave, and one whose answer is on its way for arrive.
func crossing(t *testing.T, server *sharedtest.Server, leave, arrive *func()) *process {
	return begin(t, server, false, func(cfg *Config) {
		tier := cfg.Shared.(*sharedtest.Tier)
		tier.OnRequest = func(call, _ string) { once(call, leave) }
		tier.OnReply = func(call, _ string) { once(call, arrive) }
	})
}

func once(call string, do *func()) {
	if f := *do; call == "Number" && f != nil {
		*do = nil
		f()
	}
}

// Of two renewals under way the one that the server did last counts, though the other's answer
// comes first; or neither.
func TestNumbersRenewalsCross(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none, arrive func()
		release := make(chan struct{})
		server, id := sharedtest.NewServer(), tagID("a")
		b := crossing(t, server, &none, &arrive)
		var second sync.WaitGroup
		arrive = func() { // of the first
			arrive = func() { <-release }
			second.Go(func() { b.renew(id) })
			synctest.Wait()
		}
		b.renew(id)
		close(release)
		second.Wait()
		b.latest(server, id)
	})
}

// What was asked for during a renewal, and before the server made it, is not kept when the
// answer comes after the renewal's.
func TestNumbersAskedDuringRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leave, arrive func()
		release := make(chan struct{})
		server, id := sharedtest.NewServer(), tagID("a")
		b := crossing(t, server, &leave, &arrive)
		b.number(id)
		var asked sync.WaitGroup
		leave = func() { // of the renewal
			arrive = func() { <-release }
			asked.Go(func() { b.number(id) })
			synctest.Wait()
		}
		b.renew(id)
		close(release)
		asked.Wait()
		b.latest(server, id)
	})
}

// A renewal whose answer was lost may have been made: what was asked for meanwhile is not kept.
func TestNumbersRenewalFails(t *testing.T) {
	var leave, none func()
	server, id := sharedtest.NewServer(), tagID("a")
	b := crossing(t, server, &leave, &none)
	b.number(id)
	leave = func() {
		b.number(id)
		b.tier.SetLosesReplies(true)
	}
	if _, err := b.Numbers().Renew(t.Context(), id); err == nil {
		t.Error("no error")
	}
	b.tier.SetLosesReplies(false)
	b.latest(server, id)
}

// A copy that has to make room is void: nobody tells it of a change any more.
func TestNumbersMakeRoom(t *testing.T) {
	var none func()
	server := sharedtest.NewServer()
	a, b := numbered(t, server, &none), numbered(t, server, &none)
	n := b.Numbers()
	var copies []*shared.Number
	for i := range 4 * fleet.MinNumberSets * fleet.NumberWays {
		c, err := n.Get(t.Context(), tagID(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, c)
	}
	held := 0
	for i, c := range copies {
		if id := tagID(fmt.Sprint(i)); n.Holds(c) {
			held++
			a.renew(id)
			if n.Holds(c) {
				t.Fatalf("number %d of an older copy is trusted", i)
			}
		}
	}
	if held == 0 || held > len(n.Sets)*fleet.NumberWays {
		t.Errorf("%d numbers are held in %d sets", held, len(n.Sets))
	}
}

// NumberAt tells the number of a moment, or of before it, and nothing if it may have changed since.
func TestNumberAt(t *testing.T) {
	var none func()
	server := sharedtest.NewServer()
	a, b, id := numbered(t, server, &none), numbered(t, server, &none), tagID("a")
	n, now := b.Numbers(), b.Numbers().Now()
	if n.NumberAt(t.Context(), now, id) != a.number(id) {
		t.Error("a number that has not changed is not told")
	}
	now = n.Now()
	if before := b.tier.Calls(); n.NumberAt(t.Context(), now, id) == 0 || b.tier.Calls() != before {
		t.Error("a number that was known before is asked for")
	}
	a.renew(id)
	for range 2 { // the second time it is known again
		if n.NumberAt(t.Context(), now, id) != 0 {
			t.Error("a number is told that has changed since")
		}
	}
	if n.NumberAt(t.Context(), n.Now(), id) != a.number(id) {
		t.Error("a number that has changed before is not told")
	}
	now = n.Now()
	b.tier.Disconnect()
	if n.NumberAt(t.Context(), now, id) != 0 {
		t.Error("a number is told of which a change may have been lost")
	}
	b.tier.SetOnline(false)
	if n.NumberAt(t.Context(), n.Now(), tagID("b")) != 0 {
		t.Error("a number is told that nobody knows")
	}
}
