package cluster

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/loglines"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// quiet is a host that hears of epochs.
type quiet struct {
	mu     sync.Mutex
	feed   *shared.Feed // of slot 0
	ended  int
	begins chan struct{} // has a token for each epoch that begins
}

func (h *quiet) Fits(string, link.Server) error { return nil }
func (h *quiet) Pushed(string)                  {}
func (h *quiet) Wrote(string)                   {}

func (h *quiet) EpochEnded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended++
}

func (h *quiet) SetFeed(_ int, f *shared.Feed) {
	h.mu.Lock()
	h.feed = f
	h.mu.Unlock()
	h.begins <- struct{}{}
}

func (h *quiet) now() *shared.Feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.feed
}

// A connection that is over, however late it has its say, neither extends trust nor gives slots away.
func TestLostConnectionHasNoSay(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	h := &quiet{begins: make(chan struct{}, 100)}
	common := &wire.Common{
		Settings: link.Settings{
			DialTimeout: servertest.Patience, Timeout: servertest.Patience, Rhythm: link.RhythmOf(time.Hour),
			Names: entry.Names{Prefix: "test:"}, Log: loglines.To(slog.New(slog.DiscardHandler)),
		},
		Staleness: time.Hour, Dialing: context.Background(),
	}
	pongs := make(chan struct{}, 100)
	common.AfterPong = func() { pongs <- struct{}{} }
	c := Single(common, h, s.Addr)
	defer c.Close()
	c.Start()
	w := c.Owners()[0]
	trusted := func() *shared.Feed {
		for h.now().Until() < 0 {
			<-pongs
		}
		return h.now()
	}
	<-h.begins // it is connected
	trusted()
	before := w.Conn()
	before.Kill()
	<-h.begins // it is lost
	<-h.begins // there is another one
	feed := trusted()
	if c.Trusted(w, before, math.MaxInt64); feed.Until() == math.MaxInt64 {
		t.Error("trusted for ever by a connection that is over")
	}
	other := &slots.Map{Primaries: []slots.Member{{ID: "another", Addr: "127.0.0.1:1", Slots: slots.All}}, Self: "me", OK: true}
	c.Map(w, before, other)
	if stamp := c.Stamp(w, 0); stamp != h.now().Stamp(0) || len(c.Wires()) != 1 {
		t.Errorf("the slot was given away by a connection that is over")
	}
	if c.Stamp(w.Guided(), 0) != 0 {
		t.Error("a guided wire gives stamps")
	}
}
