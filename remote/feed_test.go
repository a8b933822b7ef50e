package remote

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// trusted waits until what is stamped now is trusted.
func (o opened) trusted(t *testing.T) shared.Stamp {
	t.Helper()
	var stamp shared.Stamp
	o.store.wait(t, "of a PONG", func() bool {
		for _, w := range o.cluster.Owners() {
			if s := o.cluster.Stamp(w, 0); s != 0 {
				stamp = s
			}
		}
		return stamp != 0 && o.trust.Holds(stamp)
	})
	return stamp
}

// A flush of the server, of whichever database, ends the epoch, not the connection.
func TestFlushEndsEpoch(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := open(t, Options{}, s.Addr)
		stamp := o.trusted(t)
		s.Do("FLUSHALL")
		o.store.wait(t, "of the flush", func() bool { return o.store.epochs == 1 })
		if o.trust.Holds(stamp) {
			t.Error("a copy from before the flush is trusted")
		}
		if again := o.trusted(t); again == stamp {
			t.Error("the epoch goes on after the flush")
		}
		if n := o.stats().Reconnects; n != 0 {
			t.Errorf("%d connections lost", n)
		}
	})
}

// A connection that the server ends ends the epoch, and another one is made.
func TestLostConnectionEndsEpoch(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := open(t, Options{}, s.Addr)
		stamp := o.trusted(t)
		s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		o.store.wait(t, "of the loss", func() bool { return o.store.epochs == 1 })
		if o.trust.Holds(stamp) {
			t.Error("a copy from before the loss is trusted")
		}
		if again := o.trusted(t); again == stamp {
			t.Error("the epoch goes on with another connection")
		}
		o.set(t, "k", "v")
	})
}

// A server that was started anew, without data, is connected to by itself.
func TestRestartEndsEpoch(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	o.set(t, "k", "v")
	stamp := o.trusted(t)
	s.Restart()
	o.store.wait(t, "of the restart", func() bool { return o.store.epochs >= 1 })
	o.trusted(t)
	if o.trust.Holds(stamp) {
		t.Error("a copy from before the restart is trusted")
	}
	o.missing(t, "k")
}

// A server that says nothing is noticed, and its copies are suspect after the bound.
func TestSilentServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{Staleness: MinStaleness}, s.Addr)
	stamp := o.trusted(t)
	s.Freeze()
	o.store.wait(t, "of the silence", func() bool { return o.store.epochs == 1 })
	if o.trust.Holds(stamp) {
		t.Error("a copy is trusted while the server is silent")
	}
	s.Thaw()
	o.trusted(t)
}

// A primary that becomes a replica is not trusted, though it goes on answering.
func TestPrimaryBecomesReplica(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		primary, s := servertest.Start(t, servertest.Options{Binary: b}), servertest.Start(t, servertest.Options{Binary: b})
		o := open(t, Options{}, s.Addr)
		stamp := o.trusted(t)
		host, port, _ := net.SplitHostPort(primary.Addr)
		s.Do("REPLICAOF", host, port)
		o.store.wait(t, "of it", func() bool { return o.store.epochs > 0 && !o.trust.Holds(stamp) })
		s.Do("REPLICAOF", "NO", "ONE")
		o.trusted(t)
		o.set(t, "k", "v")
	})
}

func TestInvalidatesByName(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{Namespace: "a"}, s.Addr)
	other := open(t, Options{Namespace: "ab"}, s.Addr)
	o.trusted(t)
	other.trusted(t)
	id := shared.ID([]byte("0123456789abcdef"))
	for _, name := range []string{"a:k", "a:", "a:x", "ab:kother", "a:nshort", "a:n" + string(id[:]), "a:k:{\x00*"} {
		s.Do("SET", name, "x")
	}
	o.store.wait(t, "of the last key", func() bool { return o.store.keys[":{\x00*"] == 1 })
	if got := fmt.Sprint(o.store.keys, o.store.numbers[id], len(o.store.numbers)); got != fmt.Sprint(map[string]int{"": 1, ":{\x00*": 1}, 1, 1) {
		t.Errorf("told of %s", got)
	}
	other.store.wait(t, "of its key", func() bool { return len(other.store.keys) == 1 && other.store.keys["other"] == 1 })
}

// Announcements that are written before a PING is sent are there before the PONG of the PING
// after it. That of the PING itself may precede them.
func TestAnnouncedBeforeSecondPong(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		for _, threads := range []int{0, 2} {
			s := servertest.Start(t, servertest.Options{Binary: b, IOThreads: threads})
			c := rawFeed(t, s.Addr)
			for i := range 2000 {
				key := fmt.Sprintf("raw:%d", i)
				s.Do("SET", key, "v") // acknowledged: written before the PING
				if !c.announced(key) {
					t.Fatalf("%d threads: the second PONG came before %s was announced", threads, key)
				}
			}
		}
	})
}

// raw is a connection with a feed, read as lines.
type raw struct {
	t *testing.T
	net.Conn
	lines *bufio.Scanner
}

func rawFeed(t *testing.T, addr string) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &raw{t, conn, bufio.NewScanner(conn)}
	c.send("HELLO 3")
	c.send("CLIENT TRACKING ON BCAST PREFIX raw: NOLOOP")
	c.send("PING")
	c.until("+PONG", "")
	return c
}

func (c *raw) send(command string) {
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		c.t.Fatal(err)
	}
}

// until reads to a line, and reports whether another was before it.
func (c *raw) until(line, other string) (seen bool) {
	for c.lines.Scan() {
		text := strings.TrimSpace(c.lines.Text())
		seen = seen || text == other
		if text == line {
			return seen
		}
	}
	c.t.Fatalf("%s does not come: %v", line, c.lines.Err())
	return false
}

// announced sends two PINGs, one after the other's PONG, and reports whether a key was announced
// before the second PONG.
func (c *raw) announced(key string) bool {
	c.send("PING")
	first := c.until("+PONG", key)
	c.send("PING")
	second := c.until("+PONG", key)
	return first || second
}
