package faultproxy

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// echo is a server that sends back what it gets, and the proxy before it.
func echo(t *testing.T) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	p, err := New(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); _ = listener.Close() })
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a watchdog
	return c
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, text string) {
	t.Helper()
	b := make([]byte, len(text))
	if n, err := io.ReadFull(c, b); err != nil || string(b) != text {
		t.Fatalf("%q, %v: want %q", b[:n], err, text)
	}
}

func TestHold(t *testing.T) {
	for _, d := range []Direction{ToServer, ToClient} {
		p := echo(t)
		c := dial(t, p)
		send(t, c, "before")
		expect(t, c, "before")
		reached := p.HoldFrom(d, "held")
		send(t, c, "this is held")
		<-reached
		p.Heal()
		expect(t, c, "this is held")
	}
}

// A connection whose client has gone stays, for the server, while the way there is held.
func TestHoldKeepsTheEnd(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	send(t, c, "before")
	expect(t, c, "before")
	p.Hold(ToServer)
	_ = c.Close()
	if n := p.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestCut(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	p.Cut(ToClient, 10)
	send(t, c, "sixteen bytes...")
	b, err := io.ReadAll(c)
	if err == nil || !strings.HasPrefix("sixteen by", string(b)) {
		t.Errorf("%q, %v: want no more than 10 bytes, and a reset", b, err)
	}
}

func TestResetAndRefuse(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	send(t, c, "before")
	expect(t, c, "before")
	p.Refuse()
	if n := p.Reset(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v: want a reset", n, err)
	}
	if c, err := net.Dial("tcp", p.Addr()); err == nil { // else it was reset before
		if n, err := c.Read(make([]byte, 1)); err == nil || n != 0 {
			t.Errorf("%d bytes, %v: want a reset", n, err)
		}
		_ = c.Close()
	}
	p.Heal()
	c = dial(t, p)
	send(t, c, "after")
	expect(t, c, "after")
}

func TestReplaceAndDelay(t *testing.T) {
	p := echo(t)
	p.Replace(ToServer, "HELLO", "HELLX")
	p.Delay(ToClient, time.Millisecond)
	c := dial(t, p)
	send(t, c, "HELLO 3")
	expect(t, c, "HELLX 3")
}
