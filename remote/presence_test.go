package remote

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/wire"
)

// Of a server that is stopped, but whose connection stays, no caller waits for an answer twice, and
// none waits that comes later. A heartbeat that is answered has it be asked again.
func TestNobodyWaitsTwiceForAStoppedServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{Timeout: 20 * time.Millisecond, Staleness: servertest.Patience}, s.Addr)
	o.trusted(t)
	read := func() error {
		_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
		return err
	}
	s.Freeze()
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			first, second := read(), read()
			if !errors.Is(first, shared.ErrUnavailable) || !errors.Is(second, wire.ErrAway) {
				t.Errorf("%v, then %v: want it unavailable, and then not asked", first, second)
			}
		})
	}
	all.Wait()
	if got := o.stats(); got.BreakerOpened != 1 || got.BreakersOpen != 1 {
		t.Errorf("%+v: want that it is away, once", got)
	}
	s.Thaw()
	o.store.wait(t, "of an answered heartbeat", func() bool { return !o.wire().Away() })
	if got := o.stats(); got.BreakersOpen != 0 {
		t.Errorf("%+v: want that it is back", got)
	}
}

// The heartbeat alone finds out, too, and a server that refuses it is away, but answers.
func TestHeartbeatFindsOut(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := openTuned(t, Options{Timeout: 100 * time.Millisecond, Staleness: MinStaleness}, unnoticed, s.Addr)
	o.trusted(t)
	away := func() bool { return o.wire().Away() }
	back := func() bool { return !away() }
	s.Freeze()
	until(t, "that the server is away", away)
	s.Thaw()
	until(t, "that it is back", back)
	s.Do("CONFIG", "SET", "busy-reply-threshold", "1")
	conn, err := s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go conn.Do("EVAL", "while true do end", "0")
	until(t, "that it is away again", away)
	if _, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")}); !errors.Is(err, wire.ErrAway) {
		t.Errorf("%v: want that it is not asked", err)
	}
	s.Do("SCRIPT", "KILL")
	until(t, "that it is back again", back)
}
