package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/faultproxy"
	"github.com/firncache/firn/remote/internal/servertest"
)

// What waiting does not mend is an error of Open, which says what to change, and no secret.
func TestOpenRefuses(t *testing.T) {
	plain := servertest.Start(t, servertest.Options{Password: "right", Users: []string{
		"unlinker on >secret ~ugly:* &* +@all -unlink",
		"stranger on >secret ~other:* &* +@all",
		"untracked on >secret ~ugly:* &* +@all -client|tracking",
	}})
	secure := servertest.Start(t, servertest.Options{TLS: true})
	replica := servertest.Start(t, servertest.Options{ReplicaOf: servertest.Start(t, servertest.Options{})})
	for name, c := range map[string]struct {
		o    remote.Options
		want []string
	}{
		"wrong password":         {remote.Options{Addrs: []string{plain.Addr}, Password: "wrong"}, []string{"Options.Username, Password", "WRONGPASS"}},
		"no password":            {remote.Options{Addrs: []string{plain.Addr}}, []string{"Options.Username, Password", "NOAUTH"}},
		"no such user":           {remote.Options{Addrs: []string{plain.Addr}, Username: "nobody", Password: "secret"}, []string{"nobody", "WRONGPASS"}},
		"no right to UNLINK":     {remote.Options{Addrs: []string{plain.Addr}, Username: "unlinker", Password: "secret"}, []string{"UNLINK", "ugly:*", "NOPERM"}},
		"no right to the keys":   {remote.Options{Addrs: []string{plain.Addr}, Username: "stranger", Password: "secret"}, []string{"keys ugly:*", "NOPERM"}},
		"no right to the feed":   {remote.Options{Addrs: []string{plain.Addr}, Username: "untracked", Password: "secret"}, []string{"untracked", "tracking"}},
		"an unknown certificate": {remote.Options{Addrs: []string{secure.Addr}, TLS: &tls.Config{RootCAs: x509.NewCertPool()}}, []string{"Options.TLS", "certificate"}},
		"a replica":              {remote.Options{Addrs: []string{replica.Addr}}, []string{"replica", "primary"}},
		"a database":             {remote.Options{Addrs: []string{plain.Addr}, Database: 3}, []string{"Database", "3", "want 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Namespace = "ugly"
			tier, err := remote.Open(c.o)
			if err == nil {
				var cache *firn.Cache
				if cache, err = firn.Open(firn.Options{RAMBytes: 1 << 20, Shared: tier}); err == nil {
					_ = cache.Close()
					t.Fatal("no error")
				}
			}
			for _, text := range c.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q: want %q in it", err, text)
				}
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "wrong ") {
				t.Errorf("%q tells the password", err)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	server := servertest.Start(t, servertest.Options{TLS: true, Password: "right"})
	n := newNode(t, server, func(o *remote.Options) { o.TLS, o.Password = server.TLS(), "right" })
	n.set(key, "value")
	n.copied(key, "value")
	if !n.Stats().Shared.Tracking {
		t.Error("no feed")
	}
}

// A server behind a proxy that knows no HELLO, or no tracking, has no feed. It serves, and a
// copy lives for its CopyTTL, or there is none.
func TestWithoutFeed(t *testing.T) {
	for _, unknown := range []string{"HELLO", "TRACKING"} {
		for _, copies := range []time.Duration{0, time.Hour} {
			server := servertest.Start(t, servertest.Options{})
			n := newNodeBehind(t, server, func(p *faultproxy.Proxy) {
				p.Replace(faultproxy.ToServer, unknown, unknown[1:]+"X")
				p.Replace(faultproxy.ToClient, unknown[1:]+"X", unknown)
			},
				func(o *remote.Options) { o.CopyTTL = copies })
			n.set(key, "value")
			n.want(key, "value")
			if s := n.Stats().Shared; s.Tracking || s.Hits == 0 && copies == 0 {
				t.Errorf("without %s, copies of %v: tracking %v, %d hits on the server", unknown, copies, s.Tracking, s.Hits)
			}
			if copies > 0 {
				n.copied(key, "value") // as soon as the server was heard of
			} else if v := n.local(key); v != "" {
				t.Errorf("without %s and copies: the local tiers have %q", unknown, v)
			}
			if err := n.Delete([]byte(key)); err != nil {
				t.Error(err)
			}
			n.want(key, "")
		}
	}
}

// A server that is full refuses writes, and says so; what it has is found, removed, and
// written again when there is room.
func TestFullServer(t *testing.T) {
	server, a, b := two(t)
	a.set(key, "old")
	a.set("other", "value")
	b.copied(key, "old")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	err := a.Set([]byte(key), []byte("new"))
	if !errors.Is(err, firn.ErrSharedUnavailable) || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("Set: %v, want %v, and OOM", err, firn.ErrSharedUnavailable)
	}
	a.want(key, "old")
	b.want(key, "old")
	pushed := b.seam.pushed("other")
	if err := a.Delete([]byte("other")); err != nil {
		t.Errorf("Delete: %v", err)
	}
	<-pushed
	b.want("other", "")
	server.Do("CONFIG", "SET", "maxmemory", "0")
	pushed = b.seam.pushed(key)
	a.set(key, "new")
	<-pushed
	b.want(key, "new")
}

// A primary that becomes a replica refuses writes. Its copies are not believed for ever, and
// nothing panics.
func TestPrimaryBecomesReplica(t *testing.T) {
	server, a, _ := two(t, impatient)
	primary := servertest.Start(t, servertest.Options{})
	a.set(key, "old")
	_, port, _ := strings.Cut(primary.Addr, ":")
	server.Do("REPLICAOF", "127.0.0.1", port)
	if err := a.Set([]byte(key), []byte("new")); !errors.Is(err, firn.ErrSharedUnavailable) {
		t.Errorf("Set: %v, want %v", err, firn.ErrSharedUnavailable)
	}
	server.Do("REPLICAOF", "NO", "ONE")
	a.awaitServer()
	a.set(key, "newer")
	a.want(key, "newer")
}

// What others have put under the namespace's keys is a miss, of whatever type and length it
// is, and can be overwritten.
func TestForeignValues(t *testing.T) {
	for name, command := range map[string][]string{
		"empty":        {"SET", "races:kkey", ""},
		"short":        {"SET", "races:kkey", "x"},
		"text":         {"SET", "races:kkey", strings.Repeat("a foreign value ", 100)},
		"a set":        {"SADD", "races:kkey", "member"},
		"a list":       {"RPUSH", "races:kkey", "item"},
		"a hash":       {"HSET", "races:kkey", "field", "value"},
		"of 300 MB":    {"SETRANGE", "races:kkey", "300000000", "x"},
		"longer later": {"APPEND", "races:kkey", strings.Repeat("x", 1000)},
		"changed":      {"SETRANGE", "races:kkey", "33", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			server, a, _ := two(t)
			if name == "longer later" || name == "changed" {
				a.set(key, strings.Repeat("value", 10))
			}
			pushed := a.seam.pushed(key)
			server.Do(command...)
			<-pushed
			a.want(key, "")
			if s := a.Stats().Shared; s.ForeignValues == 0 && name != "empty" {
				t.Error("not counted")
			}
			a.loads(key, "loaded")
			a.set(key, "set")
			a.want(key, "set")
			if sum, err := a.Increment(context.Background(), []byte("counter"), 3); sum != 3 || err != nil {
				t.Errorf("Increment = %d, %v, want 3", sum, err)
			}
		})
	}
}

// The same of Compute alone: it finds nothing, and writes.
func TestComputeOverForeignValue(t *testing.T) {
	server, a, b := two(t)
	pushed := a.seam.pushed(key)
	server.Do("SET", "races:kkey", "foreign")
	<-pushed
	err := a.Compute(context.Background(), []byte(key), func(old []byte, ok bool) ([]byte, firn.Op) {
		if ok {
			t.Errorf("found %q, want nothing", old)
		}
		return []byte("computed"), firn.OpSet
	})
	if err != nil {
		t.Fatal(err)
	}
	a.want(key, "computed")
	b.want(key, "computed")
}
