package servertest

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"
)

func TestServer(t *testing.T) {
	Each(t, func(t *testing.T, b Binary) {
		for name, o := range map[string]Options{
			"plain":    {},
			"password": {Password: "secret"},
			"TLS":      {TLS: true},
			"socket":   {Unix: true},
			"threads":  {IOThreads: 2},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o.Binary = b
				s := Start(t, o)
				s.Do("SET", "k", "v")
				if r := s.Do("GET", "k"); r.Text != "v" {
					t.Fatalf("GET: %+v", r)
				}
			})
		}
	})
}

func TestServerStops(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{MaxMemory: "32mb", Users: []string{"alice on >secret ~ns:* &* +@all"}})
	s.Do("SET", "k", "v")
	if m := s.Info("maxmemory", "INFO", "memory"); m != "33554432" {
		t.Fatalf("maxmemory %q, want 32 MiB", m)
	}
	if r := s.Do("ACL", "LIST"); len(r.Items) != 2 {
		t.Fatalf("users: %+v, want default and alice", r)
	}
	for name, stop := range map[string]func(){"killed": s.Kill, "stopped": s.Stop, "frozen and stopped": func() { s.Freeze(); s.Stop() }} {
		stop()
		if s.Answers() || s.Pid() != 0 {
			t.Fatalf("%s, but it runs", name)
		}
		if _, err := s.Try("PING"); err == nil {
			t.Fatalf("%s, but it answers", name)
		}
		addr := s.Addr
		s.Restart()
		if r := s.Do("GET", "k"); !r.Nil || s.Addr != addr {
			t.Fatalf("%s and started again: %+v at %s, want nothing at %s", name, r, s.Addr, addr)
		}
	}
}

func TestServerFreezes(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{})
	c, err := s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.Freeze()
	if s.Answers() {
		t.Fatal("frozen, but it answers")
	}
	s.Thaw()
	if r, err := c.Do("PING"); err != nil || r.Text != "PONG" {
		t.Fatalf("PING on the connection of before: %+v, %v", r, err)
	}
}

func TestReplica(t *testing.T) {
	t.Parallel()
	p := Start(t, Options{Password: "secret"})
	p.Do("SET", "k", "v")
	r := Start(t, Options{Password: "secret", ReplicaOf: p})
	r.WaitSynced()
	if v := r.Do("GET", "k"); v.Text != "v" {
		t.Fatalf("GET at the replica: %+v", v)
	}
	if _, err := r.Try("SET", "k", "v"); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Fatalf("SET at the replica: %v, want READONLY", err)
	}
}

func TestCertificateOfAnotherServer(t *testing.T) {
	t.Parallel()
	a, b := Start(t, Options{TLS: true}), Start(t, Options{TLS: true})
	b.dialer = a.dialer
	var unknown x509.UnknownAuthorityError
	if _, err := b.Try("PING"); !errors.As(err, &unknown) {
		t.Fatalf("PING: %v, want an unknown authority", err)
	}
}

// No two servers of this process, nor of another, are given one port.
func TestPorts(t *testing.T) {
	given := map[int]bool{}
	for range 3 * portBlock {
		port := FreePort(t)
		if given[port] {
			t.Fatalf("port %d is given twice", port)
		}
		given[port] = true
		l, err := listen(port / portBlock * portBlock)
		if err == nil {
			l.Close()
			t.Fatalf("the block of port %d can be owned by another process", port)
		}
	}
}
