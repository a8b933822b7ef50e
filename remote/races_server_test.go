package remote_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn/remote/internal/servertest"
)

// What the server has flushed is not found any more.
func TestFlush(t *testing.T) {
	server, a, b := two(t)
	b.set(key, "old")
	a.copied(key, "old")
	before := a.seam.epoch()
	server.Do("FLUSHALL")
	a.seam.awaitEpoch(before)
	if v := a.local(key); v != "" {
		t.Errorf("the local tiers have %q, want nothing", v)
	}
	a.want(key, "")
}

// A flush of another database makes copies suspect, and loses none.
func TestFlushOfAnotherDatabase(t *testing.T) {
	server, a, b := two(t)
	b.set(key, "value")
	a.copied(key, "value")
	before := a.seam.epoch()
	conn, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, command := range [][]string{{"SELECT", "3"}, {"SET", "other", "1"}, {"FLUSHDB"}} {
		if _, err := conn.Do(command...); err != nil {
			t.Fatal(err)
		}
	}
	a.seam.awaitEpoch(before)
	a.copied(key, "value")
	if s := a.Stats().Shared; s.ChecksUnchanged == 0 {
		t.Error("the value was read again: want it to be checked")
	}
}

// A server that comes back empty has nothing, whatever copies there are.
func TestServerComesBackEmpty(t *testing.T) {
	server, a, b := two(t)
	b.set(key, "old")
	a.copied(key, "old")
	a.Demote([]byte(key))
	before := a.seam.epoch()
	server.Kill()
	a.seam.awaitEpoch(before)
	if v := a.local(key); v != "" {
		t.Errorf("the local tiers answer with %q, which is suspect", v)
	}
	server.Restart()
	a.awaitServer()
	a.want(key, "")
}

// What the server evicts is gone from the SSD, too: at once, or when it is checked, if the
// network was gone meanwhile. Then it is loaded.
func TestServerEvictsWhatLiesOnTheSSD(t *testing.T) {
	for _, away := range []bool{false, true} {
		t.Run(fmt.Sprintf("away: %v", away), func(t *testing.T) {
			server, a, b := two(t)
			server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
			b.set(key, "old")
			a.copied(key, "old")
			a.Demote([]byte(key))
			pushed, told := a.seam.pushed(key), b.seam.pushed(key)
			if away {
				a.disconnect()
			}
			server.Do("CONFIG", "SET", "maxmemory", "1")
			<-told
			server.Do("CONFIG", "SET", "maxmemory", "0")
			if away {
				a.reconnect()
			} else {
				<-pushed
			}
			a.want(key, "")
			a.loads(key, "loaded")
		})
	}
}

// What expires on the server while the network is gone is found nowhere: a copy on the SSD
// is checked, and is none.
func TestServerExpiresWhatLiesOnTheSSD(t *testing.T) {
	server, a, b := two(t)
	b.set(key, "old")
	a.copied(key, "old")
	a.Demote([]byte(key))
	told := b.seam.pushedTimes(key, 2) // that it has a deadline, and that it is gone
	a.disconnect()
	server.Do("PEXPIRE", "races:kkey", "1")
	<-told
	a.reconnect()
	a.want(key, "")
	a.loads(key, "loaded")
}

// loads has a load be the answer.
func (n *node) loads(key, value string) {
	n.t.Helper()
	v, err := n.GetOrLoad(context.Background(), nil, []byte(key), func(context.Context, []byte) ([]byte, error) {
		return []byte(value), nil
	})
	if err != nil || string(v) != value {
		n.t.Errorf("GetOrLoad(%s) = %q, %v, want %q", key, v, err, value)
	}
}

// The server ends the connection in the midst of many pushes: no copy that one of them was
// to invalidate is an answer.
func TestKilledInAStormOfPushes(t *testing.T) {
	server, a, b := two(t)
	var keys, values [][]byte
	for i := range 3000 {
		keys, values = append(keys, fmt.Appendf(nil, "key-%d", i)), append(values, fmt.Appendf(nil, "old-%d", i))
	}
	if err := b.SetMulti(t.Context(), keys, values); err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		a.copied(string(k), string(values[i]))
	}
	before, pushed := a.seam.epoch(), a.seam.pushed("key-1000")
	wait := begin(func() {
		for i, k := range keys {
			b.set(string(k), fmt.Sprintf("new-%d", i))
		}
	})
	<-pushed
	server.Do("CLIENT", "KILL", "ADDR", a.addr())
	a.seam.awaitEpoch(before)
	wait()
	a.awaitServer()
	for i, k := range keys {
		a.want(string(k), fmt.Sprintf("new-%d", i))
	}
}

// A client whose pushes are more than the server may keep for it is disconnected by the limit of
// the server's output buffer: the same. One command writes all, so that nobody has to be slow.
func TestOutputBufferLimit(t *testing.T) {
	server := servertest.Start(t, servertest.Options{})
	a := newNode(t, server)
	server.Do("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
	a.set(key, "old")
	a.copied(key, "old")
	before, mark := a.seam.epoch(), server.Mark()
	long, write := strings.Repeat("long", 500), []string{"MSET"}
	for i := range 2000 {
		write = append(write, fmt.Sprint("races:k", long, i), "value")
	}
	server.Do(write...)
	server.WaitLog(mark, "overcoming of output buffer limits")
	a.seam.awaitEpoch(before)
	newNode(t, server).set(key, "new")
	a.reconnect()
	a.want(key, "new")
}
