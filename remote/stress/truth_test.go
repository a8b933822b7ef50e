//go:build linux

package stress

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
)

// truth is what the server had under the keys that only callers change, and when, by its own word:
// MONITOR, which shows each command that the server has done, in their order. The checker knows the
// writes that processes report; truth knows them all, and when each happened.
//
// What MONITOR does not show is not known: from the moment that its connection is lost until the next
// one has read all keys, and while the server evicts.
type truth struct {
	t      *testing.T
	server *servertest.Server
	names  []string // of the keys, by their numbers
	offset int64    // from the server's time to now's
	looks  bool     // the server's MONITOR can be read

	mu     sync.Mutex
	more   *sync.Cond // a mark was seen, or a connection was lost or is new
	model  *model
	known  []interval // when nothing is missing; the last one goes on while to is 0
	marks  int64      // the highest that was seen
	conn   net.Conn
	paused bool
	closed bool
	ended  chan struct{}

	judged, unjudged int64
	violations       []string
}

type interval struct{ from, to int64 }

// slack is how far the clocks of the server and of the processes may be apart, in nanoseconds.
const slack = int64(5 * time.Millisecond)

func newTruth(t *testing.T, s *servertest.Server) *truth {
	h := &truth{t: t, server: s, offset: now() - time.Now().UnixNano(), ended: make(chan struct{})}
	h.more = sync.NewCond(&h.mu)
	for key := range uint32(firstLoad) {
		h.names = append(h.names, "stress:k"+string(keyOf(key)))
	}
	h.model = newModel(h.names)
	if h.looks = quotes(t, s); !h.looks {
		t.Log("MONITOR of this server does not quote what it shows: reads are not compared with it")
		close(h.ended)
		return h
	}
	go h.follow()
	t.Cleanup(h.close)
	return h
}

// quotes reports whether MONITOR shows quotes and backslashes so that they can be told from its own:
// Valkey 8.1 does not.
func quotes(t *testing.T, s *servertest.Server) bool {
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("MONITOR\r\nECHO \"\\\"\\\\\"\r\n")); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(conn); ; { // the answers, and what is shown
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "ECHO") {
			_, _, args, ok := parseMonitor(line)
			return ok && args[1] == `"\`
		}
	}
}

// follow listens to one connection after the other.
func (h *truth) follow() {
	defer close(h.ended)
	for !h.isOver() {
		conn, err := net.Dial("tcp", h.server.Addr)
		if err == nil {
			h.listen(conn)
		}
		h.lose()
		time.Sleep(5 * time.Millisecond) // the server may be down
	}
}

// isOver waits while truth is paused, and reports whether it is closed.
func (h *truth) isOver() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.paused && !h.closed {
		h.more.Wait()
	}
	return h.closed
}

func (h *truth) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = nil
	if n := len(h.known); n > 0 && h.known[n-1].to == 0 {
		h.known[n-1].to = now() - slack
	}
	h.more.Broadcast()
}

// listen takes in what a connection shows until it is lost.
func (h *truth) listen(conn net.Conn) {
	defer conn.Close()
	h.mu.Lock()
	h.conn = conn
	stop := h.paused || h.closed
	h.mu.Unlock()
	if stop {
		return
	}
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		return
	}
	in := bufio.NewReaderSize(conn, 1<<20)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "+OK") {
		return
	}
	all := h.readAll()
	for known := false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		at, db, args, ok := parseMonitor(line)
		at += h.offset
		switch {
		case !ok:
		case args[0] == "MGET" && !known:
			there, ok := <-all
			if known = ok; !known {
				return
			}
			h.begin(at, there)
		case known:
			h.see(at, db, args)
		}
	}
}

// readAll reads all keys at once, which MONITOR shows in its place among the others' commands.
func (h *truth) readAll() <-chan []servertest.Reply {
	all := make(chan []servertest.Reply, 1)
	go func() {
		defer close(all)
		c, err := h.server.Dial()
		if err != nil {
			h.drop()
			return
		}
		defer c.Close()
		if r, err := c.Do(append([]string{"MGET"}, h.names...)...); err == nil && len(r.Items) == len(h.names) {
			all <- r.Items
		} else {
			h.drop()
		}
	}()
	return all
}

// drop ends the connection.
func (h *truth) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil {
		h.conn.Close()
	}
}

func (h *truth) begin(at int64, there []servertest.Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range there {
		h.model.put(at, h.names[i], r.Text, 0)
	}
	h.known = append(h.known, interval{from: at + slack})
	h.more.Broadcast()
}

func (h *truth) see(at int64, db string, args []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if mark, ok := strings.CutPrefix(args[len(args)-1], "mark-"); ok && args[0] == "ECHO" {
		h.marks, _ = strconv.ParseInt(mark, 10, 64)
		h.more.Broadcast()
		return
	}
	h.model.do(at, db, args)
}

// caughtUp waits until all that the server has done so far was taken in, or the connection is lost.
func (h *truth) caughtUp() {
	mark := now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.known); h.conn == nil || n == 0 || h.known[n-1].to != 0 {
		return
	}
	conn := h.conn
	h.mu.Unlock()
	_, err := h.server.Try("ECHO", fmt.Sprint("mark-", mark))
	h.mu.Lock()
	for err == nil && h.marks < mark && h.conn == conn {
		h.more.Wait()
	}
}

// pause has truth not look for a while.
func (h *truth) pause(paused bool) {
	h.mu.Lock()
	h.paused = paused
	h.more.Broadcast()
	h.mu.Unlock()
	h.drop()
}

func (h *truth) close() {
	h.mu.Lock()
	h.closed = true
	h.more.Broadcast()
	h.mu.Unlock()
	h.drop()
	<-h.ended
}

// round judges the reads of a round: the server had the value at some time from the bound before the
// read to its end.
func (h *truth) round(records []record, bound int64) {
	h.caughtUp()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range records {
		if r.Kind != kindRead || r.Key >= firstLoad {
			continue
		}
		from, to := r.From-bound-slack, r.To+slack
		if !slices.ContainsFunc(h.known, func(i interval) bool { return i.from <= from && (i.to == 0 || to <= i.to) }) {
			h.unjudged++
			continue
		}
		h.judged++
		if there := h.model.between(r.Key, from, to); !slices.ContainsFunc(there, func(v version) bool { return v.n == r.Value || v.n == unclear }) {
			h.violations = append(h.violations, fmt.Sprintf("key %d: %v: in this time the server had %v", r.Key, r, there))
		}
	}
	h.model.forget(now() - 2*bound)
	h.known = slices.DeleteFunc(h.known, func(i interval) bool { return i.to != 0 && i.to < now()-int64(time.Minute) })
}
