package link

import (
	"testing"
	"time"
)

// A PONG vouches for what was written before the PING before it, and no later.
func TestHeartbeatTrustsFromThePingBefore(t *testing.T) {
	h := newHeartbeat(1000)
	h.ping(10)
	if until := h.pong(); until != never {
		t.Fatalf("trusted until %d after the first PONG: want never", until)
	}
	h.ping(300)
	if until := h.pong(); until != 1010 {
		t.Fatalf("trusted until %d: want the bound after the first PING, 1010", until)
	}
	h.ping(500)
	if until := h.pong(); until != 1300 {
		t.Fatalf("trusted until %d: want the bound after the second PING, 1300", until)
	}
}

// A PING that is not answered with PONG vouches for nothing.
func TestHeartbeatWithoutPong(t *testing.T) {
	h := newHeartbeat(1000)
	h.ping(10)
	h.pong()
	h.ping(300) // -LOADING
	h.ping(500)
	if until := h.pong(); until != 1010 {
		t.Fatalf("trusted until %d: want 1010, from the PING that has its PONG", until)
	}
}

func TestRhythm(t *testing.T) {
	for _, staleness := range []time.Duration{50 * time.Millisecond, time.Second, time.Minute} {
		r := RhythmOf(staleness)
		if late := staleness - r.Bound; late <= 2*r.Tick {
			t.Errorf("%v: trusted for %v with a clock of %v: want less by more than two ticks", staleness, r.Bound, r.Tick)
		}
		if 3*r.Interval >= r.Bound {
			t.Errorf("%v: a PING every %v: want three within %v", staleness, r.Interval, r.Bound)
		}
	}
}

func TestPausesBetweenAttempts(t *testing.T) {
	r, last := RhythmOf(time.Second), time.Duration(0)
	for _, want := range []time.Duration{50, 100, 200, 400, 500, 500} {
		if last = r.Retry(last); last != want*time.Millisecond {
			t.Errorf("%v: want %d ms", last, want)
		}
	}
}
