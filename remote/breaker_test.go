package remote

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/redis/rueidis"
)

// states are the changes of a breaker.
func watchBreaker(b *breaker) (states *[]string) {
	states = new([]string)
	b.changed = func(from, to breakerState) { *states = append(*states, fmt.Sprint(to)) }
	return states
}

func open5(t *testing.T, b *breaker) {
	t.Helper()
	for i := range maxFailures {
		if !b.allow() {
			t.Fatalf("it is open after %d failures", i)
		}
		b.note(failed, b.begin())
	}
	if b.allow() {
		t.Fatalf("it is closed after %d failures", maxFailures)
	}
}

func TestBreakerOpensAndCloses(t *testing.T) {
	var b breaker
	states := watchBreaker(&b)
	open5(t, &b)
	b.pong()
	if !b.allow() || b.allow() {
		t.Fatal("half-open: want one request let through")
	}
	b.note(failed, b.begin())
	if b.allow() {
		t.Fatal("want it open: the request has failed")
	}
	b.pong()
	b.allow()
	b.note(unknown, b.begin())
	if !b.allow() || b.allow() {
		t.Fatal("half-open: want another request in place of one that was given up")
	}
	b.note(answered, b.begin())
	if first, second := b.allow(), b.allow(); !first || !second {
		t.Fatal("want it closed")
	}
	if got, want := fmt.Sprint(*states), "[open half-open open half-open closed]"; got != want || b.opened.Load() != 1 {
		t.Errorf("%s, opened %d times: want %s, once", got, b.opened.Load(), want)
	}
}

// Requests that wait together for a server that is late are one failure, however many they are.
func TestBreakerCountsAStallOnce(t *testing.T) {
	var b breaker
	for range maxFailures - 1 {
		began := b.begin()
		for range 100 {
			b.note(failed, began)
		}
	}
	if !b.allow() {
		t.Errorf("it opened after %d stalls: want %d", maxFailures-1, maxFailures)
	}
	if b.note(failed, b.begin()); b.allow() {
		t.Errorf("it is closed after %d stalls", maxFailures)
	}
}

func TestBreakerCountsFailuresInARow(t *testing.T) {
	var b breaker
	for i := range 3 * maxFailures {
		b.note([]outcome{failed, failed, failed, unknown, answered}[i%5], b.begin())
		b.pong()
	}
	if !b.allow() || b.opened.Load() != 0 {
		t.Error("it has opened, and no five failures followed each other")
	}
	open5(t, &b)
	b.close() // of a new connection
	if first, second := b.allow(), b.allow(); !first || !second {
		t.Error("want it closed by a new connection")
	}
	b.note(failed, b.begin())
	if !b.allow() {
		t.Error("the failures before count no more")
	}
}

func TestOutcomes(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want outcome
	}{
		{t.Context(), nil, answered},
		{t.Context(), rueidis.Nil, answered},
		{t.Context(), o.wire.do(t.Context(), command("GET")).Error(), answered}, // a wrong command
		{t.Context(), shared.ErrUnavailable, failed},
		{gone, context.Canceled, unknown},
		{gone, shared.ErrUnavailable, unknown},
		{t.Context(), o.wire.unavailable(errClosed), unknown},
	} {
		if got := outcomeOf(c.ctx, c.err); got != c.want {
			t.Errorf("%v: %d: want %d", c.err, got, c.want)
		}
	}
	for says, want := range map[string]bool{"LOADING Redis is": true, "BUSY Redis is": true, "BUSYKEY Target": false, "CLUSTERDOWN Hash": true, "OOM command": false} {
		if isBusy(says) != want {
			t.Errorf("%s: want %t", says, want)
		}
	}
}

// tells sends the states of a breaker from here on.
func (b *breaker) tells() <-chan breakerState {
	states := make(chan breakerState, 100)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = func(_, to breakerState) { states <- to }
	return states
}

// next waits for something, for as long as the test has patience.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(servertest.Patience):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

// A server that is stopped, but whose connection stays, is not asked any more after some
// requests, until it answers a heartbeat.
func TestBreakerOfAStoppedServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{Timeout: 20 * time.Millisecond, Staleness: servertest.Patience}, s.Addr)
	o.trusted(t)
	states := o.wire.breaker.tells()
	s.Freeze()
	read := func() error {
		_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
		return err
	}
	for range maxFailures {
		if err := read(); !errors.Is(err, shared.ErrUnavailable) || errors.Is(err, errBreaker) {
			t.Fatalf("%v: want no answer", err)
		}
	}
	if err := read(); !errors.Is(err, errBreaker) || !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v: want it not asked", err)
	}
	if got := o.stats(); got.BreakerOpened != 1 || got.BreakersOpen != 1 {
		t.Errorf("%+v: want one open breaker", got)
	}
	if got := next(t, states); got != breakerOpen {
		t.Fatal(got)
	}
	s.Thaw()
	if got := next(t, states); got != breakerHalfOpen {
		t.Fatal(got)
	}
	for next := breakerHalfOpen; next != breakerClosed; {
		read() // a loaded machine may need more than the timeout
		select {
		case next = <-states:
		default:
		}
	}
	if got := o.stats(); got.BreakersOpen != 0 {
		t.Errorf("%+v: want no open breaker", got)
	}
}
