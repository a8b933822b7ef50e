package shared

import (
	"testing"
	"time"
)

// The end of trust is heeded while the coarse time stands still: the clock is asked when the
// end is near, and only then.
func TestTrustEndsInTime(t *testing.T) {
	now, asked := int64(1000), 0
	trust, feed := NewTrust(1, 4), NewFeed()
	trust.SetClock(func() int64 { asked++; return now }, 100*time.Millisecond)
	trust.SetFeed(0, feed)
	trust.Advance(now)
	stamp := feed.Stamp(0)
	for _, step := range []struct {
		until, now   int64
		holds, asked bool
	}{
		{until: 1200, now: 1000, holds: true},
		{until: 1099, now: 1099, holds: true, asked: true},
		{until: 1099, now: 1100, holds: false, asked: true},
		{until: 999, now: 1100, holds: false},
		{until: 1100, now: 1100, holds: true},
	} {
		now, asked = step.now, 0
		feed.Extend(step.until)
		if got := trust.Holds(stamp); got != step.holds || asked > 0 != step.asked {
			t.Errorf("until %d at %d: %v, asked %d times: want %v, %v", step.until, step.now, got, asked, step.holds, step.asked)
		}
	}
	trust.Restamp(7, 8, stamp)
	feed.Extend(1099)
	if trust.HoldsCopy(7, 8, NewFeed().Stamp(0)) {
		t.Error("a copy that was stamped anew is trusted after the end")
	}
}

// What is hot is trusted, at every moment; and nothing is where the end of trust is near, nor
// in a cluster.
func TestHot(t *testing.T) {
	now := int64(1000)
	trust, feed := NewTrust(1, 4), NewFeed()
	trust.SetClock(func() int64 { return now }, 100*time.Millisecond)
	stamp := feed.Stamp(0)
	for i, step := range []struct {
		do  func()
		hot bool
	}{
		{func() {}, false},
		{func() { trust.Advance(now) }, false},
		{func() { trust.SetFeed(0, feed) }, false},
		{func() { feed.Extend(1100) }, true},
		{func() { trust.Advance(1001) }, false},
		{func() { feed.Extend(2000) }, true},
		{func() { feed.Extend(1000) }, false},
		{func() { feed.Extend(3000) }, true},
		{func() { trust.SetFeed(0, NewFeed()) }, false},
	} {
		if step.do(); trust.Hot() == stamp != step.hot {
			t.Errorf("step %d: hot is %x, and the stamp %x: want it hot %v", i, trust.Hot(), stamp, step.hot)
		}
	}
	cluster := NewTrust(Slots, 4)
	cluster.Advance(now)
	cluster.SetFeed(0, feed)
	feed.Extend(3000)
	if cluster.Hot() == stamp || !cluster.Holds(stamp) {
		t.Error("a copy of a cluster is hot, or not trusted")
	}
}

// A copy that no server has given is trusted for its time alone, whatever becomes of feeds.
func TestTrustAlone(t *testing.T) {
	now := int64(1000)
	trust := NewTrust(1, 4)
	trust.SetClock(func() int64 { return now }, 100*time.Millisecond)
	trust.Advance(now)
	stamp, left := trust.Alone(900, 500, trust.Salt())
	if left != 400 || stamp == trust.Hot() {
		t.Fatalf("%d ms are left, stamp %x", left, stamp)
	}
	for _, step := range []struct {
		coarse, now int64
		holds       bool
	}{{1000, 1000, true}, {1100, 1400, true}, {1350, 1400, true}, {1350, 1401, false}, {1401, 1401, false}} {
		now = step.now
		trust.Advance(step.coarse)
		if got := trust.Holds(stamp | Shortened); got != step.holds {
			t.Errorf("at %d, %d: %v", step.coarse, step.now, got)
		}
	}
	now = 1000
	trust.Advance(1000)
	if trust.EndAlone(); trust.Holds(stamp) {
		t.Error("a copy is trusted after EndAlone")
	}
	trust.salt.Store(uint64(stamp & slotMask)) // of another boot
	other := NewTrust(1, 4)
	other.SetClock(func() int64 { return now }, 100*time.Millisecond)
	other.Advance(now)
	for range 2 {
		if other.Holds(stamp) {
			t.Error("a copy of another process is trusted")
		}
		other.salt.Store(trust.salt.Load())
	}
	now = 1401
	trust.SetFeed(0, NewFeed())
	for _, from := range []int64{0, 901} {
		if s, left := trust.Alone(from, 500, trust.Salt()); s != 0 || left != 0 {
			t.Errorf("from %d: %x, for %d ms", from, s, left)
		}
	}
}

// Trust that was given between a look and the question is noticed.
func TestTrustSince(t *testing.T) {
	trust, feed := NewTrust(1, 4), NewFeed()
	trust.Advance(0)
	for name, give := range map[string]func(){
		"a feed":   func() { trust.SetFeed(0, feed) },
		"a word":   func() { feed.Extend(100) },
		"an epoch": func() { trust.SetFeed(0, NewFeed()) },
	} {
		trust.SetFeed(0, feed)
		mark := trust.Mark()
		if trust.Since(mark) {
			t.Error("trust was given of itself")
		}
		if give(); !trust.Since(mark) {
			t.Errorf("%s gave no trust", name)
		}
	}
}
