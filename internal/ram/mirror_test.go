package ram

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/evicted"
)

// mirrorTier is a tier with some records above a lower tier that lets all in.
func mirrorTier(t *testing.T, keys int) (*Tier, *lower, *int64) {
	t.Helper()
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 1<<20, low, &now)
	for i := range keys {
		setMirrored(t, tier, i, "first", 0)
	}
	return tier, low, &now
}

func setMirrored(t *testing.T, tier *Tier, i int, value string, deadline int64) {
	t.Helper()
	if err := tier.setKey(fmt.Appendf(nil, "key-%04d", i), []byte(value), deadline); err != nil {
		t.Fatal(err)
	}
}

// mirrorPass is a pass that leaves so many records without a copy, and offers so many.
func mirrorPass(t *testing.T, tier *Tier, low *lower, lost uint64, wantLeft int64, wantOffered int) {
	t.Helper()
	offered := 0
	low.seen = func(uint64, []byte, bool) { offered++ }
	defer func() { low.seen = nil }()
	left, all := tier.Mirror(lost, always)
	if !all || left.Records != wantLeft || (left.Bytes > 0) != (wantLeft > 0) || offered != wantOffered {
		t.Errorf("a pass to its end: %v; %d records of %d bytes have no copy, %d were offered: want %d and %d", all, left.Records, left.Bytes, offered, wantLeft, wantOffered)
	}
}

// TestMirror copies what has not changed for a pass, once.
func TestMirror(t *testing.T) {
	const keys = 500
	tier, low, _ := mirrorTier(t, keys)
	mirrorPass(t, tier, low, 0, keys, 0)
	for i := range 100 { // in place
		setMirrored(t, tier, i, "later", 0)
	}
	mirrorPass(t, tier, low, 0, 100, keys-100)
	mirrorPass(t, tier, low, 0, 0, 100)
	mirrorPass(t, tier, low, 0, 0, 0)
	if len(low.held) != keys || tier.Stats().Entries != keys {
		t.Errorf("%d copies of %d records, want %d", len(low.held), tier.Stats().Entries, keys)
	}
	for i := range 10 { // ends the copy
		setMirrored(t, tier, i, "last!", 0)
	}
	if len(low.held) != keys-10 {
		t.Errorf("%d copies, want %d: those of written records end", len(low.held), keys-10)
	}
}

// TestMirrorOfLostCopies: copies that the lower tier has lost are made anew.
func TestMirrorOfLostCopies(t *testing.T) {
	const keys = 200
	tier, low, _ := mirrorTier(t, keys)
	mirrorPass(t, tier, low, 0, keys, 0)
	mirrorPass(t, tier, low, 0, 0, keys)
	mirrorPass(t, tier, low, 0, 0, 0)
	lost := 0
	for hash := range low.held {
		if lost < 50 {
			delete(low.held, hash)
			lost++
		}
	}
	mirrorPass(t, tier, low, 0, 0, 0) // nobody has said so
	mirrorPass(t, tier, low, 50, 0, 50)
	if len(low.held) != keys {
		t.Errorf("%d copies, want %d", len(low.held), keys)
	}
}

// TestMirrorOfRefused: what the lower tier refuses is offered by each pass, and costs its writes
// nothing.
func TestMirrorOfRefused(t *testing.T) {
	const keys = 50
	tier, low, _ := mirrorTier(t, keys)
	low.admit = func() bool { return false }
	mirrorPass(t, tier, low, 0, keys, 0)
	mirrorPass(t, tier, low, 0, keys, keys)
	mirrorPass(t, tier, low, 0, keys, keys)
	invalidated := 0
	low.invalidate = func(uint64) { invalidated++ }
	for i := range keys {
		setMirrored(t, tier, i, "later", 0)
	}
	if invalidated > 0 {
		t.Errorf("%d writes look for a copy that there is not", invalidated)
	}
}

// TestMirrorOfDeadlines: a negative or an expired entry gets no copy, and a copy that expires too
// early is made anew.
func TestMirrorOfDeadlines(t *testing.T) {
	tier, low, now := mirrorTier(t, 0)
	setMirrored(t, tier, 0, "lives", 5000)
	setMirrored(t, tier, 1, "no more", 1500)
	setMirrored(t, tier, 2, "", -5000)
	mirrorPass(t, tier, low, 0, 2, 0)
	*now = 2000
	mirrorPass(t, tier, low, 0, 0, 1)
	key := []byte("key-0000")
	if found, err := tier.Touch(tier.Hash(key), key, 9000); !found || err != nil {
		t.Fatal(found, err)
	}
	mirrorPass(t, tier, low, 0, 0, 1)
	mirrorPass(t, tier, low, 0, 0, 0)
	if got := low.held[tier.Hash(key)].deadline; got != 9000 {
		t.Errorf("the copy expires at %d, want 9000", got)
	}
}

// TestMirrorEnds when it is told to.
func TestMirrorEnds(t *testing.T) {
	tier, _, _ := mirrorTier(t, 100)
	steps := 0
	if _, all := tier.Mirror(0, func() bool { steps++; return steps < 3 }); all || steps != 3 {
		t.Errorf("the pass went to its end: %v, after %d steps", all, steps)
	}
}

// TestMirroredIsNotDemotedAgain: Close offers the lower tier what has changed since the last pass,
// and all if records were lost there.
func TestMirroredIsNotDemotedAgain(t *testing.T) {
	const keys = 200
	tier, low, _ := mirrorTier(t, keys)
	mirrorPass(t, tier, low, 7, keys, 0)
	mirrorPass(t, tier, low, 7, 0, keys)
	offered := func(lost uint64) (n int) {
		low.seen = func(uint64, []byte, bool) { n++ }
		defer func() { low.seen = nil }()
		if !tier.DemoteAll(lost, always, new(evicted.List)) {
			t.Error("DemoteAll has ended early")
		}
		return n
	}
	if n := offered(7); n != 0 {
		t.Errorf("%d records were offered though all were mirrored", n)
	}
	if n := offered(8); n != keys {
		t.Errorf("%d records were offered after a loss, want %d", n, keys)
	}
	setMirrored(t, tier, 0, "second", 0)
	if n := offered(7); n == 0 || string(low.held[tier.Hash([]byte("key-0000"))].value) != "second" {
		t.Errorf("%d records were offered after a write", n)
	}
}

// TestMirrorOfAbortedParts: a long record of which the lower tier took no copy in the end is left,
// and offered again.
func TestMirrorOfAbortedParts(t *testing.T) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 1<<20, low, &now)
	newInParts(tier, low)
	setMirrored(t, tier, 0, string(make([]byte, 5000)), 0)
	low.admit = func() bool { return false }
	mirrorPass(t, tier, low, 0, 1, 0)
	mirrorPass(t, tier, low, 0, 1, 1)
	low.admit = nil
	mirrorPass(t, tier, low, 0, 0, 1)
	mirrorPass(t, tier, low, 0, 0, 0)
}
