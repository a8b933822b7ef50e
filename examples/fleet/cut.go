package main

import (
	"context"
	"fmt"
	"time"
)

// cut has the network of C fail while A changes a price, and asks C all the time.
func (f *fleet) cut(ctx context.Context) error {
	const old, now = 400, 410
	a, c := f.processes[0], f.processes[2]
	f.say("\n4. The network between C and the server is cut; the bound is %v", bound)
	if err := a.put(ctx, "tea", old); err != nil {
		return err
	}
	if err := c.waitFor(ctx, "tea", old); err != nil {
		return err
	}
	begin := time.Now()
	f.say("   %s  cut", since(begin))
	c.net.cut()
	if err := a.put(ctx, "tea", now); err != nil {
		return err
	}
	changed := time.Now()
	f.say("   %s  A: tea costs %d cents now, it was %d", since(begin), now, old)
	if err := f.watch(ctx, c, begin, changed, now); err != nil {
		return err
	}
	asked := time.Now()
	stale, err := c.get(ctx, "tea?stale")
	f.say("   %s  C, if old prices are welcome: %d cents, from %s, in %v", since(begin), stale.Cents, stale.From, time.Since(asked).Round(time.Millisecond))
	return err
}

// watch asks C until it has said the new price for half a second, and tells when its answers
// change. An answer to a question that was asked when the change was older than the bound
// has to be the new price.
func (f *fleet) watch(ctx context.Context, c *process, begin, changed time.Time, now int) error {
	var last Answer
	var first time.Time // when it first said the new price
	for first.IsZero() || time.Since(first) < bound/2 {
		asked := time.Now()
		a, err := c.get(ctx, "tea")
		if err != nil {
			return err
		}
		if age := asked.Sub(changed); a.Cents != now && age > bound {
			return fmt.Errorf("C answers %d cents %v after the change: want the new price after %v", a.Cents, age, bound)
		}
		if a != last {
			f.say("   %s  C: %d cents, from %s", since(begin), a.Cents, a.From)
			last = a
		}
		if a.Cents == now && first.IsZero() {
			first = time.Now()
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.say("   %s  no answer of C was older than %v", since(begin), bound)
	return nil
}

// healed has the network of C work again.
func (f *fleet) healed(ctx context.Context) error {
	c := f.processes[2]
	f.say("\n5. The network is whole again")
	before, err := c.stats(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	c.net.heal()
	for s := before; !s.Online; {
		if s, err = c.stats(ctx); err != nil {
			return err
		}
		if time.Since(begin) > time.Minute {
			return fmt.Errorf("C has not found the server for a minute: %+v", s)
		}
	}
	f.say("   %s  C hears of the server again", since(begin))
	if err := f.processes[0].put(ctx, "tea", 500); err != nil {
		return err
	}
	if err := c.waitFor(ctx, "tea", 500); err != nil {
		return err
	}
	after, err := c.stats(ctx)
	f.say("   %s  and of changes: 500 cents", since(begin))
	f.say("   C in all: %d interruptions of the feed, %d suspect copies checked,", after.Epochs, after.Checks)
	f.say("   %d of them the latest still, %d reads and writes failed", after.ChecksUnchanged, after.Errors)
	return err
}

func since(begin time.Time) string { return fmt.Sprintf("%6.0f ms", float64(time.Since(begin))/1e6) }
