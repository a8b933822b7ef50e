package local

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
)

// A load that looks for a value while the store is closed finds none of which tags are not known
// any more.
func TestPeekDuringClose(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.SetObsolete(func(_, _ []byte) (obsolete bool, since int64) {
		if err := s.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		return false, 0 // as the registry, which has ended
	}, nil)
	value := []byte("old")
	if v, _, state := s.wanted(nil, []byte("k"), value, 0, Fresh); state != Miss {
		t.Errorf("%q is an answer, in the state %d, while the store closes", v, state)
	}
}

// What has been stale since a moment that is yet to come is no answer: nothing would end that.
func TestStaleSinceTheFuture(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	var grace atomic.Int64
	grace.Store(5000)
	for since, want := range map[int64]bool{1: true, now - 5000: true, now - 4999: false, now: false, now + 1000: false, now + 100_000: true, math.MaxInt64: true} {
		if got := isPastGrace(since, now, &grace); got != want {
			t.Errorf("stale since %d, at %d: past its grace: %v", since, now, got)
		}
	}
}
