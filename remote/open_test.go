package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// refused is the error with which a tier does not open.
func refused(t *testing.T, o Options, addr string) string {
	t.Helper()
	o.Addrs, o.Namespace, o.DialTimeout = []string{addr}, "test", servertest.Patience
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	tier, err := openTier(o)
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(context.Background())
	_, err = tier.Open(newStore())
	if err == nil {
		t.Fatal("opened")
	}
	return err.Error()
}

// What waiting does not mend is said at once.
func TestOpenRefused(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Password: "secret", Users: []string{
		"reader on >hush-r ~test:* +@all -set", "deaf on >hush-d ~test:* +@all -client", "other on >hush-o ~other:* &* +@all", "mute on >hush-m ~test:* +@all -ping",
	}})
	replica := servertest.Start(t, servertest.Options{ReplicaOf: servertest.Start(t, servertest.Options{})})
	for _, c := range []struct {
		name, addr, user, password, want string
	}{
		{"no password", s.Addr, "", "", "NOAUTH"},
		{"wrong password", s.Addr, "", "guess", "WRONGPASS"},
		{"no such user", s.Addr, "nobody", "secret", `user "nobody"`},
		{"may not write", s.Addr, "reader", "hush-r", "SET of keys test:*: NOPERM"},
		{"may not be told", s.Addr, "deaf", "hush-d", "NOPERM"},
		{"other keys", s.Addr, "other", "hush-o", "of keys test:*: NOPERM"},
		{"no PING", s.Addr, "mute", "hush-m", "NOPERM"},
		{"replica", replica.Addr, "", "", "is a replica: want the address of a primary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := refused(t, Options{Username: c.user, Password: c.password}, c.addr)
			if want := "remote: " + c.addr + ": "; !strings.HasPrefix(got, want) || !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant %s… %s", got, want, c.want)
			}
			if c.password != "" && strings.Contains(got, c.password) {
				t.Errorf("%s tells the password", got)
			}
		})
	}
}

// rights are those that the package's documentation lists.
const rights = "-@all +hello +client +ping +info +scan +getrange +pttl +set +del +unlink +eval +evalsha +command +cluster"

// A user with the rights that the documentation lists can do everything.
func TestOpenWithRights(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if said := strings.ReplaceAll(string(text), "\n//\t    ", " "); err != nil || !strings.Contains(said, rights+"\n") {
		t.Errorf("doc.go lists other rights, %v: want %s", err, rights)
	}
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b, Users: []string{"cache on >password ~test:* &* " + rights}})
		o := open(t, Options{Username: "cache", Password: "password"}, s.Addr)
		o.trusted(t)
		o.set(t, "k", "v")
		for i, call := range o.calls(t.Context()) {
			if err := call(); err != nil && !errors.Is(err, shared.ErrNotFound) && !errors.Is(err, shared.ErrChanged) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		written := o.set(t, "k", "v")
		if err := o.Remove(t.Context(), []byte("k"), shared.Expect{Version: written.Version}); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenTLS(t *testing.T) {
	s := servertest.Start(t, servertest.Options{TLS: true})
	o := open(t, Options{TLS: s.TLS()}, s.Addr)
	o.trusted(t)
	o.set(t, "k", noise(firstPiece+nextPiece))
	o.get(t, "k")
	if got := refused(t, Options{TLS: &tls.Config{}}, s.Addr); !strings.Contains(got, "Options.TLS: ") {
		t.Errorf("%s: want the certificate not trusted", got)
	}
}

// A client without a certificate is refused, by TLS 1.3 after the handshake only.
func TestOpenWithoutClientCertificate(t *testing.T) {
	s := servertest.Start(t, servertest.Options{TLS: true, Config: []string{"tls-auth-clients yes"}})
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := s.TLS()
		config.MaxVersion = version
		if got := refused(t, Options{TLS: config}, s.Addr); !strings.Contains(got, "Options.TLS: remote error: tls: ") {
			t.Errorf("%s: %s: want what the server says of the certificate", tls.VersionName(version), got)
		}
	}
}

// A server that is not there is connected to when it comes.
func TestOpenWithoutServer(t *testing.T) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(servertest.FreePort(t)))
	o := open(t, Options{}, addr)
	_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
	if !errors.Is(err, shared.ErrUnavailable) || !strings.Contains(err.Error(), addr) {
		t.Fatalf("%v: want unavailable", err)
	}
	if st := o.stats(); st.Online || st.Tracking || st.ServersUp != 0 {
		t.Errorf("%+v: want it offline", st)
	}
	servertest.Start(t, servertest.Options{Config: []string{"port " + addr[len("127.0.0.1:"):]}})
	o.trusted(t)
	o.set(t, "k", "v")
	if st := o.stats(); !st.Online || !st.Tracking || st.ServersUp != 1 || st.FeedLag <= 0 || st.FeedLag > int64(servertest.Patience) {
		t.Errorf("%+v: want it online", st)
	}
}

// A server without a feed, or that speaks the old protocol alone, is used without copies; with a
// CopyTTL, with copies that live for so long.
func TestWithoutTracking(t *testing.T) {
	for _, missing := range []string{"CLIENT", "HELLO"} {
		t.Run(missing, func(t *testing.T) {
			s := servertest.Start(t, servertest.Options{Password: "secret", Config: []string{`rename-command ` + missing + ` ""`}})
			o := open(t, Options{Password: "secret"}, s.Addr)
			if w := o.set(t, "k", "v"); w.Stamp != 0 {
				t.Errorf("stamp %x: want none", w.Stamp)
			}
			if _, f := o.get(t, "k"); f.Stamp != 0 || o.stats().Tracking {
				t.Errorf("%+v, %+v: want no stamp, no tracking", f, o.stats())
			}
			for _, key := range []string{"none", "k"} {
				o.Read(t.Context(), nil, shared.Query{Key: []byte(key), Have: 1})
			}
			c := open(t, Options{Password: "secret", CopyTTL: time.Minute}, s.Addr)
			stamp := c.trusted(t)
			s.Try("CLIENT", "KILL", "TYPE", "normal")
			s.Restart()
			c.store.wait(t, "of the loss", func() bool { return c.store.epochs > 0 })
			if c.trust.Holds(stamp) {
				t.Error("a copy is trusted over a loss of the connection")
			}
		})
	}
}

func TestValidate(t *testing.T) {
	good := Options{Addrs: []string{"host"}, Namespace: "name"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(o *Options)
		want   string
	}{
		{func(o *Options) { o.Addrs = nil }, `Options.Addrs is []: want at least one "host:port"`},
		{func(o *Options) { o.Addrs = []string{"a", "redis://b:1/2"} }, `Options.Addrs[1] is "redis://b:1/2": want "host:port", no URL`},
		{func(o *Options) { o.Addrs = []string{"a:b"} }, `Options.Addrs[0] is "a:b": want "host:port" with a port from 1 to 65535`},
		{func(o *Options) { o.Addrs = []string{"/run/redis.sock"} }, `Options.Addrs[0] is "/run/redis.sock": want "host:port", or "host" for port 6379; Dial`},
		{func(o *Options) { o.Addrs = []string{"secret@host:1"} }, `Options.Addrs[0] is "…@host:1": want "host:port"`},
		{func(o *Options) { o.Addrs = []string{"::1"} }, `Options.Addrs[0] is "::1": want "host:port"`},
		{func(o *Options) { o.Namespace = "" }, `Options.Namespace is "": want 1 to 128 bytes`},
		{func(o *Options) { o.Namespace = "a:b" }, `Options.Namespace is "a:b": want 1 to 128 bytes`},
		{func(o *Options) { o.Namespace = strings.Repeat("x", 129) }, `Options.Namespace is "xxx`},
		{func(o *Options) { o.Namespace = "a b" }, `Options.Namespace is "a b": want`},
		{func(o *Options) { o.Database = 1 }, `Options.Database is 1: want 0`},
		{func(o *Options) { o.Staleness = time.Millisecond }, `Options.Staleness is 1ms: want at least 50ms`},
		{func(o *Options) { o.Timeout = -1 }, `Options.Timeout is -1ns: want at least 1ms`},
		{func(o *Options) { o.CopyTTL = time.Microsecond }, `Options.CopyTTL is 1µs: want at least 1ms`},
		{func(o *Options) { o.MaxValueBytes = 1 << 30 }, `Options.MaxValueBytes is 1073741824: want 1 to 134217728`},
		{func(o *Options) { o.CompressAbove = -2 }, `Options.CompressAbove is -2: want`},
		{func(o *Options) { o.Degraded = 9 }, `Options.Degraded is 9: want DegradedMiss`},
		{func(o *Options) { o.Leases = 9 }, `Options.Leases is 9: want LeasesAuto`},
		{func(o *Options) { o.Username = "u" }, `Options.Password is "": want the password of Username u`},
	} {
		o := good
		c.change(&o)
		_, err := openTier(o)
		var field *OptionError
		if !errors.As(err, &field) || !strings.HasPrefix(err.Error(), "remote: "+c.want) {
			t.Errorf("%v\nwant remote: %s", err, c.want)
		}
	}
	for addr, want := range map[string]string{"host": "host:6379", "host:1": "host:1", "[::1]:7": "[::1]:7"} {
		o := Options{Addrs: []string{addr}}.withDefaults()
		if !slices.Equal(o.Addrs, []string{want}) {
			t.Errorf("%s: %q: want %q", addr, o.Addrs, want)
		}
	}
}

// A right without which loads are not stored, or not shared, is missed at Open, by its name; without
// leases it is not needed.
func TestOpenNamesRightsOfLeases(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Users: []string{
		"noeval on >hush ~test:* &* +@all -eval -command", "nosha on >hush ~test:* &* +@all -evalsha -command", "nopttl on >hush ~test:* &* +@all -pttl",
	}})
	for user, want := range map[string]string{"noeval": "'eval'", "nosha": "'evalsha'", "nopttl": "'pttl'"} {
		if got := refused(t, Options{Username: user, Password: "hush"}, s.Addr); !strings.Contains(got, want) || !strings.Contains(got, "NOPERM") {
			t.Errorf("%s: %s: want that it lacks %s", user, got, want)
		}
		o := open(t, Options{Username: user, Password: "hush", Leases: LeasesOff}, s.Addr)
		o.set(t, "k", "v")
		o.get(t, "k")
	}
}
