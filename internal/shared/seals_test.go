package shared

import (
	"errors"
	"testing"
)

// Notes of checked copies grow with the copies, in borrowed memory, are few in the next epoch, and
// stay as many as they are where there is no memory.
func TestSealsGrow(t *testing.T) {
	const most = 1 << 14
	lent, none := int64(0), false
	trust := NewTrust(1, most)
	trust.LendTo(func(change int64) error {
		if none && change > 0 {
			return errors.New("none")
		}
		lent += change
		return nil
	})
	first := trust.SealBytes()
	trust.Advance(0)
	seal := func(n int) (held int) {
		feed := NewFeed()
		trust.SetFeed(0, feed)
		feed.Extend(100)
		for i := range uint64(n) {
			trust.Restamp(i, Version(i), feed.Stamp(0))
		}
		old := NewFeed().Stamp(0)
		for i := range uint64(n) {
			if trust.HoldsCopy(i, Version(i+1), old) {
				t.Fatal("another version holds")
			}
			if trust.HoldsCopy(i, Version(i), old) {
				held++
			}
		}
		if trust.SealBytes() != first+lent {
			t.Errorf("%d bytes: want %d", trust.SealBytes(), first+lent)
		}
		return held
	}
	const half = most / 2
	if held := seal(half); held != half || lent > 8*most {
		t.Errorf("%d of %d are held, with %d bytes lent", held, half, lent)
	}
	if held := seal(100); held != 100 || lent != 0 {
		t.Errorf("%d of 100 are held in the next epoch, with %d bytes lent", held, lent)
	}
	if none = true; seal(half) < MinSeals/2 || lent != 0 {
		t.Errorf("%d bytes are lent", lent)
	}
	if none = false; seal(half) < half*97/100 {
		t.Error("there is memory again, and none is lent")
	}
}
