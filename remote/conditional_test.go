package remote

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/servertest"
)

// users are those of whom one may run scripts.
var users = []string{"scripts on >secret ~* &* +@all", "none on >secret ~* &* +@all -eval -evalsha"}

// eachWay runs a test on each server as a user who may run scripts, and, where the server
// compares without them, as one who may not.
func eachWay(t *testing.T, test func(t *testing.T, s *servertest.Server, o opened)) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b, Users: users})
		for _, user := range []string{"scripts", "none"} {
			t.Run(user, func(t *testing.T) {
				s.Do("FLUSHALL")
				if user == "none" && !comparesWithoutScripts(b) {
					t.Skip("the server compares in scripts alone")
				}
				o := open(t, Options{Username: user, Password: "secret", LeaseTime: time.Hour}, s.Addr)
				test(t, s, o)
			})
		}
	})
}

// comparesWithoutScripts reports whether a server has SET IFEQ.
func comparesWithoutScripts(b servertest.Binary) bool {
	return b.Valkey && b.AtLeast(8, 1) || !b.Valkey && b.AtLeast(8, 4)
}

func envelopeOf(v shared.Version, value string) []byte {
	return entry.Append(nil, entry.Header{Version: v}, []byte(value))
}

// valueAt is the value under a key's name; "" without one.
func (o opened) valueAt(t *testing.T, key string) string {
	t.Helper()
	f, err := o.Read(t.Context(), nil, shared.Query{Key: []byte(key)})
	if err != nil && !errors.Is(err, shared.ErrNotFound) {
		t.Fatal(err)
	}
	return string(f.Value)
}

// expectations are what may be there, and what is expected of it.
var expectations = []struct {
	name, there string
	expect      shared.Expect
	met         bool
}{
	{"nothing there", "", shared.Expect{}, true},
	{"nothing there, a version expected", "", shared.Expect{Version: 7}, false},
	{"nothing there, a lease expected", "", shared.Expect{Version: 7, Leased: 7}, false},
	{"something there", string(envelopeOf(8, "old")), shared.Anything, true},
	{"the version there", string(envelopeOf(7, "old")), shared.Expect{Version: 7}, true},
	{"another there", string(envelopeOf(8, "old")), shared.Expect{Version: 7}, false},
	{"a version there, nothing expected", string(envelopeOf(8, "old")), shared.Expect{}, false},
	{"our lease there", leaseEnvelope(7), shared.Expect{Version: 7, Leased: 7}, true},
	{"another lease there", leaseEnvelope(8), shared.Expect{Version: 7, Leased: 7}, false},
	{"a value under the lease's version", string(envelopeOf(7, "old")), shared.Expect{Version: 8, Leased: 8}, false},
	{"another's lease there, which is expected", leaseEnvelope(8), shared.Expect{Version: 8}, true},
	{"the version there, long", string(envelopeOf(7, strings.Repeat("old", nextPiece))), shared.Expect{Version: 7}, true},
	{"bytes of all kinds", string(envelopeOf(0x000a0dff22002527, "\x00\r\n")), shared.Expect{Version: 0x000a0dff22002527}, true},
}

func TestSetIf(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, o opened) {
		for _, c := range expectations {
			put(s, "test:kk", c.there)
			err := o.setIf(t.Context(), o.wire(), "test:kk", c.expect, envelopeOf(9, "new"), time.Hour)
			checkMet(t, c.name, c.met, err)
			if got := o.valueAt(t, "k"); (got == "new") != c.met {
				t.Errorf("%s: the value is %q then", c.name, got)
			}
			if ms := s.Do("PTTL", "test:kk").Int; c.met && (ms <= 0 || ms > time.Hour.Milliseconds()) {
				t.Errorf("%s: it lives for %d ms: want an hour", c.name, ms)
			}
		}
	})
}

func TestDelIf(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, o opened) {
		for _, c := range expectations {
			put(s, "test:kk", c.there)
			checkMet(t, c.name, c.met, o.delIf(t.Context(), o.wire(), "test:kk", c.expect))
			if got := s.Do("GET", "test:kk").Text; !c.met && got != c.there {
				t.Errorf("%s: there is %q then: want %q", c.name, got, c.there)
			}
			if got := o.valueAt(t, "k"); c.met && got != "" {
				t.Errorf("%s: the value is %q then", c.name, got)
			}
		}
	})
}

func put(s *servertest.Server, name, value string) {
	s.Do("DEL", name)
	if value != "" {
		s.Do("SET", name, value)
	}
}

func checkMet(t *testing.T, name string, met bool, err error) {
	t.Helper()
	if met && err != nil || !met && !errors.Is(err, shared.ErrChanged) {
		t.Errorf("%s: %v: want %t", name, err, met)
	}
}

// What no cache has written is no entry: to expect that there is none replaces it.
func TestNothingExpectedOfForeignValues(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, o opened) {
		for _, foreign := range [][]string{
			{"SET", "test:kk", "a word"},
			{"SET", "test:kk", "fr\x02" + leaseEnvelope(3)[3:]},
			{"SET", "test:kk", leaseEnvelope(3)[:31]},
			{"SET", "test:kk", leaseEnvelope(0)},
			{"RPUSH", "test:kk", "a", "list"},
		} {
			if foreign[0] != "SET" && !o.wire().Can(t.Context()).Eval {
				continue // SET compares strings alone
			}
			s.Do("DEL", "test:kk")
			s.Do(foreign...)
			if err := o.delIf(t.Context(), o.wire(), "test:kk", shared.Expect{}); err != nil {
				t.Errorf("%q: %v", foreign, err)
			}
			if err := o.setIf(t.Context(), o.wire(), "test:kk", shared.Expect{}, envelopeOf(9, "new"), 0); err != nil {
				t.Errorf("%q: %v", foreign, err)
			}
			if got := o.valueAt(t, "k"); got != "new" {
				t.Errorf("%q: the value is %q then", foreign, got)
			}
		}
	})
}

// A server forgets its scripts when it restarts, and when it is told to.
func TestScriptIsSentAgain(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	for version := shared.Version(1); version < 4; version++ {
		put(s, "test:kk", string(envelopeOf(version, "old")))
		err := o.setIf(t.Context(), o.wire(), "test:kk", shared.Expect{Version: version}, envelopeOf(9, "new"), 0)
		if got := o.valueAt(t, "k"); err != nil || got != "new" {
			t.Fatalf("%q, %v: want new", got, err)
		}
		s.Do("SCRIPT", "FLUSH")
	}
}

func TestUnconditionalServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Users: []string{"none on >secret ~* &* +@all -eval -evalsha -command"}})
	o := open(t, Options{Username: "none", Password: "secret", Leases: LeasesOff}, s.Addr)
	put(s, "test:kk", string(envelopeOf(7, "old")))
	err := o.setIf(t.Context(), o.wire(), "test:kk", shared.Expect{Version: 7}, envelopeOf(9, "new"), 0)
	if !errors.Is(err, shared.ErrUnavailable) || !strings.Contains(err.Error(), "want EVAL") {
		t.Errorf("write: %v", err)
	}
	if err := o.Remove(t.Context(), []byte("k"), shared.Expect{Version: 7}); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("removal: %v", err)
	}
	tier, err := openTier(Options{Addrs: []string{s.Addr}, Namespace: "test", Username: "none", Password: "secret", Leases: LeasesOn})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tier.Open(newStore()); err == nil || !strings.Contains(err.Error(), "Options.Leases") {
		t.Errorf("opened with leases: %v", err)
	}
}

// What a script writes is announced to the connection that has asked for it, though that is to
// be told of others' writes alone; what a command compares is not.
func TestOwnConditionalWritesAreAnnounced(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := open(t, Options{}, s.Addr)
		o.missing(t, "lease") // it is connected
		put(s, "test:klease", leaseEnvelope(7))
		put(s, "test:kvalue", string(envelopeOf(7, "old")))
		lease := shared.Expect{Version: 7, Leased: 7}
		if err := errors.Join(
			o.setIf(t.Context(), o.wire(), "test:klease", lease, envelopeOf(9, "new"), 0),
			o.setIf(t.Context(), o.wire(), "test:kvalue", shared.Expect{Version: 7}, envelopeOf(9, "new"), 0)); err != nil {
			t.Fatal(err)
		}
		s.Do("SET", "test:kend", "")
		o.store.wait(t, "of the end", func() bool { return o.store.keys["end"] == 1 })
		want := map[string]int{"lease": 2, "value": 2, "end": 1} // put, and setIf
		if o.wire().Can(t.Context()).IfEq {
			want["lease"], want["value"] = 1, 1
		}
		o.store.mu.Lock()
		defer o.store.mu.Unlock()
		if !maps.Equal(o.store.keys, want) {
			t.Errorf("told of %v: want %v", o.store.keys, want)
		}
	})
}

func TestAbilities(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b, Users: users})
		want := link.Abilities{IfEq: comparesWithoutScripts(b)}
		for _, user := range []string{"scripts", "none"} {
			o := open(t, Options{Username: user, Password: "secret", Leases: LeasesOff}, s.Addr)
			want.Eval = user == "scripts"
			o.missing(t, "k") // it is connected
			if got := o.wire().Can(t.Context()); got != want {
				t.Errorf("%s: %+v: want %+v", user, got, want)
			}
		}
	})
}
