package remote

import (
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// lease asks for a lease of a key, of which the caller has no copy.
func (o opened) lease(t *testing.T, key string) (shared.Expect, *shared.Found, error) {
	t.Helper()
	return o.leaseOf(t, shared.Query{Key: []byte(key)})
}

func (o opened) leaseOf(t *testing.T, q shared.Query) (shared.Expect, *shared.Found, error) {
	t.Helper()
	e, f, err := o.Lease(t.Context(), nil, q)
	if err != nil && !errors.Is(err, shared.ErrLeased) {
		t.Fatal(err)
	}
	return e, f, err
}

// leased is lease that has to succeed.
func (o opened) leased(t *testing.T, key string) shared.Expect {
	t.Helper()
	e, f, err := o.lease(t, key)
	if err != nil || f != nil || e.Leased == 0 {
		t.Fatalf("%+v, %+v, %v: want a lease", e, f, err)
	}
	return e
}

// store writes what was loaded, as a load does.
func (o opened) storeLoaded(t *testing.T, key, value string, e shared.Expect) error {
	t.Helper()
	_, err := o.Write(t.Context(), shared.Entry{Key: []byte(key), Value: []byte(value)}, e)
	return err
}

func (o opened) delete(t *testing.T, key string) {
	t.Helper()
	if err := o.Remove(t.Context(), []byte(key), shared.Anything); err != nil {
		t.Fatal(err)
	}
}

func TestOneLoadsForAll(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, a opened) {
		b := open(t, a.given, s.Addr)
		mine := a.leased(t, "k")
		e, f, err := b.lease(t, "k")
		if !errors.Is(err, shared.ErrLeased) || e.Version != mine.Version || e.Leased != 0 || f != nil {
			t.Fatalf("%+v, %+v, %v: want a's lease, %d", e, f, err, mine.Version)
		}
		done := make(chan error, 1)
		go func() { done <- b.Await(t.Context(), []byte("k"), e) }()
		if err := a.storeLoaded(t, "k", "loaded", mine); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e, f, err = b.lease(t, "k")
		if err != nil || f == nil || string(f.Value) != "loaded" || e.Version != f.Version || e.Leased != 0 {
			t.Errorf("%+v, %+v, %v: want the value", e, f, err)
		}
		if got := b.stats(); got.LeaseWaits != 1 || got.LeasesWon != 0 || a.stats().LeasesWon != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// Whatever is done to the key while it is loaded, the loaded value is not stored.
func TestSlowLoaderIsRefused(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, a opened) {
		b := open(t, a.given, s.Addr)
		for name, meanwhile := range map[string]func(){
			"removed":                 func() { b.delete(t, "k") },
			"removed by the same":     func() { a.delete(t, "k") },
			"set":                     func() { b.set(t, "k", "newer") },
			"set and removed":         func() { b.set(t, "k", "newer"); b.delete(t, "k") },
			"removed and leased anew": func() { b.delete(t, "k"); b.leased(t, "k") },
			"all removed":             func() { b.Clear(t.Context()) },
			"evicted":                 func() { s.Do("DEL", "test:kk") },
			"replaced by a stranger":  func() { s.Do("SET", "test:kk", "foreign") },
		} {
			s.Do("DEL", "test:kk")
			mine := a.leased(t, "k")
			meanwhile()
			if err := a.storeLoaded(t, "k", "old", mine); !errors.Is(err, shared.ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
			if got := a.valueAt(t, "k"); got == "old" {
				t.Errorf("%s: the old value is back", name)
			}
		}
	})
}

// R8 without leases: a removal is remembered by a tombstone.
func TestSlowLoaderIsRefusedWithoutLeases(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{Leases: LeasesOff, LeaseTime: time.Hour}, s.Addr), open(t, Options{Leases: LeasesOff, LeaseTime: time.Hour}, s.Addr)
	e, f, err := a.lease(t, "k")
	if err != nil || f != nil || e != (shared.Expect{}) {
		t.Fatalf("%+v, %+v, %v: want nothing expected", e, f, err)
	}
	b.delete(t, "k")
	if err := a.storeLoaded(t, "k", "old", e); !errors.Is(err, shared.ErrChanged) {
		t.Errorf("%v: want it refused", err)
	}
	if e, f, err = a.lease(t, "k"); err != nil || f != nil || e.Version == 0 || e.Leased != 0 {
		t.Errorf("%+v, %+v, %v: want the tombstone", e, f, err)
	}
	if err := a.storeLoaded(t, "k", "loaded anew", e); err != nil || a.valueAt(t, "k") != "loaded anew" {
		t.Errorf("what was loaded after the removal is not stored: %v", err)
	}
	if e, f, err = a.lease(t, "k"); err != nil || f == nil || e.Version != f.Version {
		t.Errorf("%+v, %+v, %v: want the value", e, f, err)
	}
	_, held, _ := a.leaseOf(t, shared.Query{Key: []byte("k"), Have: f.Version})
	if held != nil {
		t.Errorf("%+v: want the version alone", held)
	}
}

// A process that loads is killed; of those that wait for it one loads next.
func TestHolderIsKilled(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := Options{LeaseTime: 200 * time.Millisecond}
		killed := open(t, o, s.Addr)
		mine := killed.leased(t, "k")
		killed.holding.letGo(heldLease{"test:kk", mine.Leased}) // it is heard of no more
		o.LeaseTime = time.Hour
		type won struct {
			o     opened
			lease shared.Expect
		}
		winner, value := make(chan won), make(chan string)
		for range 3 {
			p := open(t, o, s.Addr)
			go func() {
				for {
					e, f, err := p.Lease(t.Context(), nil, shared.Query{Key: []byte("k")})
					switch {
					case errors.Is(err, shared.ErrLeased):
						if err = p.Await(t.Context(), []byte("k"), e); err != nil {
							value <- err.Error()
							return
						}
					case err != nil:
						value <- err.Error()
						return
					case f != nil:
						value <- string(f.Value)
						return
					default:
						winner <- won{p, e}
						return
					}
				}
			}()
		}
		w := <-winner
		if err := w.o.storeLoaded(t, "k", "loaded", w.lease); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := <-value; got != "loaded" { // another winner would not be heard, and hang
				t.Errorf("%q: want loaded", got)
			}
		}
	})
}

func TestReleasedLease(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, a opened) {
		b := open(t, a.given, s.Addr)
		mine := a.leased(t, "k")
		e, _, _ := b.lease(t, "k")
		a.Release([]byte("k"), mine)
		if err := b.Await(t.Context(), []byte("k"), e); err != nil {
			t.Fatal(err)
		}
		theirs := b.leased(t, "k")
		a.Release([]byte("k"), mine) // which is another's by now
		a.Close(t.Context())         // waits for it
		if err := b.storeLoaded(t, "k", "loaded", theirs); err != nil {
			t.Error(err)
		}
	})
}

func TestAwaitEnds(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{LeaseTime: time.Hour}, s.Addr)
	a.leased(t, "k")
	b := open(t, Options{LeaseTime: 10 * time.Millisecond}, s.Addr)
	e, _, _ := b.lease(t, "k")
	if err := b.Await(t.Context(), []byte("k"), e); !errors.Is(err, shared.ErrLeased) {
		t.Errorf("%v: want that it has waited for long enough", err)
	}
	if err := b.storeLoaded(t, "k", "loaded nevertheless", e); err != nil {
		t.Errorf("who loads nevertheless: %v", err)
	}
	c := open(t, Options{LeaseTime: time.Hour}, s.Addr)
	a.leased(t, "other")
	e, _, _ = c.lease(t, "other")
	done := make(chan error)
	go func() { done <- c.Await(t.Context(), []byte("other"), e) }()
	c.Close(t.Context())
	if err := <-done; !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v: want that the tier is closed", err)
	}
}

// Who waits hears of this process's own writes, which the server does not announce, and of a lost
// connection, after which announcements may be missing.
func TestAwaitHearsOfOwnWritesAndLosses(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{}, s.Addr)
	a.missing(t, "elsewhere") // it is connected
	for what, do := range map[string]func(){
		"a removal": func() { a.delete(t, "k") },
		"a Set":     func() { a.set(t, "k", "v") },
		"removals": func() {
			a.RemoveMulti(t.Context(), [][]byte{[]byte("other"), []byte("k")}, func(_ int, err error) {
				if err != nil {
					t.Error(err)
				}
			})
		},
		"a lost connection": func() { s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") },
	} {
		changed, leave := a.awaits.join("test:kk")
		do()
		select {
		case <-changed:
		case <-time.After(servertest.Patience):
			t.Errorf("%s: not heard of", what)
		}
		leave()
		a.missing(t, "elsewhere") // again
	}
	if n := a.awaits.waiting.Load(); n != 0 || len(a.awaits.byName) != 0 {
		t.Errorf("%d wait, under %d names, in the end", n, len(a.awaits.byName))
	}
}
