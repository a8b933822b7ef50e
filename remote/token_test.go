package remote

import (
	"errors"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// Copies of one database are not trusted when another has its place, which no server announces.
func TestSwappedDatabase(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := open(t, Options{}, s.Addr)
		o.set(t, "k", "v")
		o.trusted(t)
		_, f := o.get(t, "k")
		s.Do("SWAPDB", "0", "1")
		o.store.wait(t, "of another epoch", func() bool { return o.store.epochs > 0 })
		if o.trust.Holds(f.Stamp) {
			t.Error("a copy from the database before is trusted")
		}
		o.missing(t, "k")
		epochs := o.stats().Epochs
		o.trusted(t)
		if now := o.stats().Epochs; now != epochs {
			t.Errorf("%d epochs have begun since", now-epochs)
		}
	})
}

// While writes are paused a server is read as before: its copies are trusted.
func TestPausedWrites(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	o.set(t, "k", "v")
	o.trusted(t)
	s.Do("CLIENT", "PAUSE", "600000", "WRITE")
	c := o.wire().Conn()
	for range 3 {
		heard := c.Heard()
		o.store.wait(t, "of a heartbeat", func() bool { return c.Heard() > heard })
	}
	o.get(t, "k")
	s.Do("CLIENT", "UNPAUSE")
}

// A server without memory for the token is used without.
func TestNoTokenOnAFullServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	s.Do("CONFIG", "SET", "maxmemory", "1")
	var log strings.Builder
	o := openTuned(t, Options{}, func(tier *sharedTier) { tier.log.SetOutput(quietly(&log)) }, s.Addr)
	o.trusted(t)
	for range 2 {
		_, err := o.Write(t.Context(), shared.Entry{Key: []byte("k"), Value: []byte("v")}, shared.Anything)
		if !errors.Is(err, shared.ErrUnavailable) || strings.Count(err.Error(), s.Addr) != 1 {
			t.Errorf("%v: want it unavailable, and the server named once", err)
		}
		err = o.wire().ServerError(err)
		if strings.Count(err.Error(), s.Addr) != 1 {
			t.Errorf("%v: want the server named once", err)
		}
	}
	o.Close(t.Context())
	if n := strings.Count(log.String(), "refuses requests"); n != 1 {
		t.Errorf("logged %d times that the server refuses: want once\n%s", n, log.String())
	}
}

// The password of a URL is not part of an error.
func TestURLIsNotEchoed(t *testing.T) {
	_, err := openTier(Options{Addrs: []string{"redis://user:hush@sh@cache:6379"}, Namespace: "test"})
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "@cache:6379") {
		t.Errorf("%v", err)
	}
}
