package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote/internal/faultproxy"
)

const key = "key"

// A reply is under way to the local tiers while a push for its key is handled: it does not
// become a copy.
func TestPushBetweenReplyAndCopy(t *testing.T) {
	_, a, b := two(t)
	b.set(key, "old")
	held := a.seam.hold(replied)
	wait := begin(func() { a.get(key) })
	<-held.reached
	pushed := a.seam.pushed(key)
	b.set(key, "new")
	<-pushed
	close(held.release)
	wait()
	a.want(key, "new")
}

// The connection dies between a reply and the copy: the copy is suspect, whether the tier
// knows of it before the copy is stored or after.
func TestConnectionDiesBetweenReplyAndCopy(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("known before: %v", before), func(t *testing.T) {
			_, a, b := two(t)
			b.set(key, "old")
			held := a.seam.hold(replied)
			wait := begin(func() { a.get(key) })
			<-held.reached
			if !before {
				close(held.release)
				wait()
			}
			a.disconnect()
			b.set(key, "new") // no push will tell
			if before {
				close(held.release)
				wait()
			}
			if v := a.local(key); v != "" {
				t.Errorf("the local tiers answer with %q, which is suspect", v)
			}
			a.reconnect()
			a.want(key, "new")
		})
	}
}

// While nothing comes from the server, and the client does not know, no local read is older
// than the bound.
func TestBoundInABlackHole(t *testing.T) {
	for _, d := range []faultproxy.Direction{faultproxy.ToClient, faultproxy.ToServer} {
		_, a, b := two(t, bounded, impatient)
		b.set(key, "old")
		a.copied(key, "old")
		a.proxy.Hold(d)
		b.set(key, "new")
		acknowledged := time.Now()
		for from := acknowledged; !from.After(acknowledged.Add(2 * bound)); {
			from = time.Now()
			if v, ok := a.Get(nil, []byte(key)); ok && string(v) == "old" && from.Sub(acknowledged) >= bound {
				t.Fatalf("%q, %v after a newer one was acknowledged: want no more than %v", v, from.Sub(acknowledged), bound)
			}
		}
		a.reconnect()
		a.want(key, "new")
	}
}

// A Set beside a read in flight: the read's reply, which is older, does not become a copy.
func TestOwnSetBesideOwnRead(t *testing.T) {
	_, a, b := two(t)
	b.set(key, "old")
	held := a.seam.hold(replied)
	wait := begin(func() { a.get(key) })
	<-held.reached
	a.set(key, "new")
	close(held.release)
	wait()
	a.want(key, "new")
}

// Two Sets of one cache come back in another order than that in which the server has done
// them: the loser's value does not stay.
func TestOwnSetsInAnotherOrder(t *testing.T) {
	_, a, b := two(t)
	held := a.seam.hold(written)
	wait := begin(func() { a.set(key, "first") })
	<-held.reached
	a.set(key, "second")
	close(held.release)
	wait()
	a.want(key, "second")
	b.want(key, "second")
}

// A Set is acknowledged, and before its value is stored locally another cache's is, and its
// push handled: the first one's value is no copy.
func TestPushBetweenAcknowledgementAndCopy(t *testing.T) {
	_, a, b := two(t)
	held := a.seam.hold(written)
	wait := begin(func() { a.set(key, "mine") })
	<-held.reached
	pushed := a.seam.pushed(key)
	b.set(key, "another's")
	<-pushed
	close(held.release)
	wait()
	a.want(key, "another's")
}

// A slow loader has read what was deleted or replaced while it ran: its value is stored
// nowhere.
func TestSlowLoader(t *testing.T) {
	for name, overtake := range map[string]func(b *node) (want string){
		"Delete": func(b *node) string { _ = b.Delete([]byte(key)); return "" },
		"Set":    func(b *node) string { b.set(key, "new"); return "new" },
	} {
		t.Run(name, func(t *testing.T) {
			_, a, b := two(t)
			want := ""
			_, err := a.GetOrLoad(context.Background(), nil, []byte(key), func(context.Context, []byte) ([]byte, error) {
				want = overtake(b)
				return []byte("old"), nil
			})
			if err != nil {
				t.Errorf("GetOrLoad: %v", err)
			}
			a.want(key, want)
			b.want(key, want)
		})
	}
}

// A Set that timed out is done later: no copy is left of what was there before, and later
// reads find it.
func TestSetIsDoneAfterItsTimeout(t *testing.T) {
	_, a, b := two(t, impatient)
	a.set(key, "old")
	a.copied(key, "old")
	b.copied(key, "old")
	reached := a.proxy.HoldFrom(faultproxy.ToServer, "late")
	if err := a.Set([]byte(key), []byte("late")); !errors.Is(err, firn.ErrSharedUnavailable) {
		t.Errorf("Set: %v, want %v", err, firn.ErrSharedUnavailable)
	}
	<-reached
	if v := a.local(key); v != "" {
		t.Errorf("the local tiers have %q, want nothing", v)
	}
	pushed := b.seam.pushed(key)
	a.reconnect()
	<-pushed // it is done
	a.want(key, "late")
	b.want(key, "late")
}
