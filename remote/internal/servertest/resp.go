package servertest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Reply is an answer of the server: Text of strings, Int of integers, Items of arrays.
type Reply struct {
	Text  string
	Int   int64
	Items []Reply
	Nil   bool
	Error bool // Text is an error's
}

// Conn is a connection that sends one command at a time: for tests that look at a server
// beside what they test.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to the server as the user default.
func (s *Server) Dial() (*Conn, error) {
	network := "tcp"
	if s.opts.Unix {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, s.Addr, Patience)
	if err != nil {
		return nil, err
	}
	if s.dialer != nil {
		conn = tls.Client(conn, s.dialer)
	}
	c := &Conn{conn: conn, in: bufio.NewReader(conn)}
	if s.opts.Password != "" {
		if _, err := c.Do("AUTH", s.opts.Password); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Close closes the connection.
func (c *Conn) Close() { c.conn.Close() }

// Do sends a command and returns its answer, or its error.
func (c *Conn) Do(args ...string) (Reply, error) {
	if err := c.conn.SetDeadline(time.Now().Add(Patience)); err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return Reply{}, err
	}
	r, err := c.read()
	if err == nil && r.Error {
		err = errors.New(r.Text)
	}
	return r, err
}

// read reads one answer of protocol 2.
func (c *Conn) read() (Reply, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return Reply{}, err
	}
	kind, rest := line[0], strings.TrimRight(line[1:], "\r\n")
	if kind == '+' || kind == '-' {
		return Reply{Text: rest, Error: kind == '-'}, nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return Reply{}, fmt.Errorf("answer %q: want a number", line)
	case kind == ':':
		return Reply{Int: n}, nil
	case n < 0:
		return Reply{Nil: true}, nil
	case kind == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(c.in, text)
		return Reply{Text: string(text[:n])}, err
	case kind != '*':
		return Reply{}, fmt.Errorf("answer %q: want one of protocol 2", line)
	}
	return c.readItems(n)
}

func (c *Conn) readItems(n int64) (Reply, error) {
	r := Reply{Items: make([]Reply, n)}
	for i := range r.Items {
		var err error
		if r.Items[i], err = c.read(); err != nil {
			return Reply{}, err
		}
	}
	return r, nil
}

// Try sends one command by a connection of its own.
func (s *Server) Try(args ...string) (Reply, error) {
	c, err := s.Dial()
	if err != nil {
		return Reply{}, err
	}
	defer c.Close()
	return c.Do(args...)
}

// Do is Try; the test fails if there is an error.
func (s *Server) Do(args ...string) Reply {
	s.t.Helper()
	r, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("%s: %q: %v", s.Addr, args, err)
	}
	return r
}

// Info is a field of INFO or CLUSTER INFO, by the command that has it.
func (s *Server) Info(field string, command ...string) string {
	s.t.Helper()
	for line := range strings.SplitSeq(s.Do(command...).Text, "\r\n") {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return value
		}
	}
	return ""
}
