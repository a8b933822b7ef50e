package remote

import (
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// tick is two ticks of the renewals, the second of which extends what is held.
func (o opened) tick() {
	for range 2 {
		together(o.holding.due(), o.extend)
	}
}

// A lease is extended while it is held, by this process alone, and what was loaded is stored,
// however long that took. What another has put in its place keeps its life.
func TestHeldLeaseIsExtended(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, o opened) {
		given := o.given
		given.LeaseTime = time.Hour
		a, b := open(t, given, s.Addr), open(t, given, s.Addr)
		for _, key := range []string{"stored", "removed", "set"} {
			mine := a.leased(t, key)
			a.tick()
			s.Do("PEXPIRE", "test:k"+key, "600000")
			switch key {
			case "removed":
				b.delete(t, key)
			case "set":
				s.Do("SET", "test:kset", "by another", "PX", "600000")
			}
			a.tick()
			left, held := s.Do("PTTL", "test:k"+key).Int, a.holding.has(heldLease{"test:k" + key, mine.Leased})
			err := a.storeLoaded(t, key, "loaded", mine)
			if key == "stored" {
				if left <= 600000 || !held || err != nil || a.holding.has(heldLease{"test:k" + key, mine.Leased}) {
					t.Errorf("%s: %d ms are left, held %v, %v", key, left, held, err)
				}
				continue
			}
			if left > 600000 || held || !errors.Is(err, shared.ErrChanged) {
				t.Errorf("%s: %d ms are left, held %v, %v", key, left, held, err)
			}
		}
		if lost := a.stats().LeasesLost; lost != 2 {
			t.Errorf("%d leases are lost: want 2", lost)
		}
		again := a.leased(t, "given up")
		a.Release([]byte("given up"), again)
		if a.holding.has(heldLease{"test:kgiven up", again.Leased}) {
			t.Error("a lease is held that was given up")
		}
	})
}

// A load that takes longer than LeaseTime is stored: the goroutine of the renewals extends its
// lease. Another process that waits for it is not woken by that.
func TestLoadSlowerThanItsLease(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{LeaseTime: DefaultLeaseTime}, s.Addr)
	b := open(t, Options{LeaseTime: time.Hour}, s.Addr)
	mine := a.leased(t, "k")
	e, _, err := b.lease(t, "k")
	if !errors.Is(err, shared.ErrLeased) {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Await(t.Context(), []byte("k"), e) }()
	b.store.wait(t, "of the lease and two renewals", func() bool { return b.store.keys["k"] > 2 })
	if err := a.storeLoaded(t, "k", "loaded", mine); err != nil {
		t.Fatalf("after two renewals: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if value, _ := b.get(t, "k"); value != "loaded" {
		t.Errorf("%q", value)
	}
}

// The more leases are held, the longer each lives, as long as extending them all may take; the oldest
// are extended first. A lease that is alone lives for LeaseTime.
func TestManyHeldLeasesLiveLonger(t *testing.T) {
	t.Parallel()
	const many = 10_000
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{LeaseTime: time.Minute}, s.Addr)
	alone := a.leased(t, "alone")
	if left := s.Do("PTTL", "test:kalone").Int; left > 60_000+int64(2*extendTime/time.Millisecond) {
		t.Errorf("a lease that is alone lives for %d ms: want a minute", left)
	}
	for i := range many {
		a.holding.hold(heldLease{"other", shared.Version(i + 1)})
	}
	a.leased(t, "together")
	a.extend(heldLease{"test:kalone", alone.Leased})
	least := 60_000 + int64(many*extendTime/time.Millisecond)/2
	for _, name := range []string{"test:ktogether", "test:kalone"} {
		if left := s.Do("PTTL", name).Int; left < least {
			t.Errorf("%s, one of %d leases, lives for %d ms: want more than %d", name, many, left, least)
		}
	}
	a.holding.due()
	if due := a.holding.due(); len(due) != many+2 || due[0].name != "test:kalone" || due[many+1].name != "test:ktogether" {
		t.Errorf("%d leases are to be extended: want %d, in the order in which they were taken", len(due), many+2)
	}
}
