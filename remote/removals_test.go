package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// network makes connections that a test can take away.
type network struct {
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, errors.New("the network is down")
	}
	c, err := new(net.Dialer).DialContext(ctx, kind, addr)
	if err == nil {
		n.conns = append(n.conns, c)
	}
	return c, err
}

func (n *network) set(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for _, c := range n.conns {
		if down {
			c.Close()
		}
	}
}

// withoutHeartbeat is a tier that is connected, and connects again when the test has it do so.
func withoutHeartbeat(t *testing.T, addr string, n *network) opened {
	t.Helper()
	o := newTier(Options{Addrs: []string{addr}, Namespace: "test", Timeout: servertest.Patience, Dial: n.dial, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() { o.Close(context.Background()) })
	if err := o.wire.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return opened{Tier: o, store: newStore()}
}

// cutOff is one whose removals of keys did not reach the server.
func cutOff(t *testing.T, addr string, n *network, keys ...string) opened {
	t.Helper()
	o := withoutHeartbeat(t, addr, n)
	c := o.wire.state.Load().conn
	n.set(true)
	c.kill()
	o.wire.connect(t.Context()) // fails
	for _, key := range keys {
		if err := o.Remove(t.Context(), []byte(key), shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
			t.Fatalf("%v: want unavailable", err)
		}
	}
	return o
}

func (o opened) reconnect(t *testing.T, n *network) {
	t.Helper()
	n.set(false)
	o.wire.breaker.close()
	if err := o.wire.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What could not be removed is removed before anything is read again.
func TestKeptRemovalsComeFirst(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	b := open(t, Options{}, s.Addr)
	b.set(t, "k", "old")
	id := shared.ID{1}
	before, _, err := b.Number(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	var n network
	a := cutOff(t, s.Addr, &n, "k")
	if _, _, err := a.Number(t.Context(), id, true); !errors.Is(err, shared.ErrUnavailable) {
		t.Fatal(err)
	}
	if kept := a.stats().KeptRemovals; kept != 2 {
		t.Errorf("%d are kept: want the key and the number", kept)
	}
	a.reconnect(t, &n)
	a.missing(t, "k")
	if now, _, err := a.Number(t.Context(), id, false); err != nil || now == before {
		t.Errorf("%d, %v: want another number than %d", now, err, before)
	}
	if kept := a.stats().KeptRemovals; kept != 0 {
		t.Errorf("%d are kept then", kept)
	}
}

// A removal does not come after what this process has written later.
func TestKeptRemovalBeforeOwnWrite(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	var n network
	a := cutOff(t, s.Addr, &n, "k", "other")
	a.reconnect(t, &n)
	a.set(t, "k", "new")
	if got := a.valueAt(t, "k"); got != "new" || a.stats().KeptRemovals != 0 {
		t.Errorf("%q: want what was set since", got)
	}
}

// Without any request, the first answered heartbeat sends what is kept.
func TestKeptRemovalsAreSentByThemselves(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	var n network
	a := open(t, Options{Dial: n.dial}, s.Addr)
	b := open(t, Options{}, s.Addr)
	b.set(t, "k", "old")
	a.missing(t, "other")
	n.set(true)
	for a.Remove(t.Context(), []byte("k"), shared.Anything) == nil {
		b.set(t, "k", "old") // the loss was not noticed yet
	}
	b.store.mu.Lock()
	told := b.store.keys["k"]
	b.store.mu.Unlock()
	n.set(false)
	b.store.wait(t, "of the removal", func() bool { return b.store.keys["k"] > told })
	b.missing(t, "k")
}

// What the server refuses to remove is not read, and is removed when the server lets us.
func TestRefusedRemoval(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Users: []string{"some on >secret ~* &* +@all"}})
	a := open(t, Options{Username: "some", Password: "secret"}, s.Addr)
	b := open(t, Options{}, s.Addr)
	b.set(t, "k", "old")
	b.set(t, "other", "there")
	a.get(t, "k")
	s.Do("ACL", "SETUSER", "some", "-unlink", "-del")
	if err := a.Remove(t.Context(), []byte("k"), shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
		t.Fatalf("%v: want unavailable", err)
	}
	if _, err := a.Read(t.Context(), nil, shared.Query{Key: []byte("k")}); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v: want that the key is not read", err)
	}
	a.ReadMulti(t.Context(), []shared.Query{{Key: []byte("k")}, {Key: []byte("other")}}, func(i int, f shared.Found, err error) {
		if i == 0 && !errors.Is(err, shared.ErrUnavailable) || i == 1 && string(f.Value) != "there" {
			t.Errorf("%d: %q, %v", i, f.Value, err)
		}
	})
	s.Do("ACL", "SETUSER", "some", "+unlink")
	b.store.wait(t, "of the removal", func() bool { return b.store.keys["k"] == 1 })
	a.set(t, "k", "new")
	if got := a.valueAt(t, "k"); got != "new" {
		t.Errorf("%q: want what was set since", got)
	}
}

func TestRefusedRemovalIsCancelledByAWrite(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := withoutHeartbeat(t, s.Addr, &network{})
	a.wire.removals.keep("test:kk")
	k := a.wire.removals.next(1)[0]
	a.wire.removals.refuse(k)
	if a.wire.removals.kept.Load() != 1 || a.wire.removals.unsent.Load() != 0 {
		t.Fatal("want one that is kept, and not sent at once")
	}
	a.set(t, "k", "new")
	if got := a.valueAt(t, "k"); got != "new" || a.wire.removals.kept.Load() != 0 {
		t.Errorf("%q: want what was set, and nothing kept", got)
	}
}

func TestKeptRemovalsAreBounded(t *testing.T) {
	var r removals
	for i := range maxKept + 10 {
		r.keep(fmt.Sprint(i))
	}
	r.keep("20") // once more: the newest
	if r.kept.Load() != maxKept || r.dropped.Load() != 10 || r.has("9") || !r.has("10") {
		t.Errorf("%d kept, %d dropped: want %d and the oldest 10", r.kept.Load(), r.dropped.Load(), maxKept)
	}
	if first := r.next(11)[10].name; first != "21" {
		t.Errorf("%s: want 21, as 20 was kept anew", first)
	}
	long := string(make([]byte, maxKeptBytes/4))
	for i := range 5 {
		r.keep(fmt.Sprint(i) + long)
	}
	if r.bytes > maxKeptBytes || r.kept.Load() > 5 {
		t.Errorf("%d bytes of %d names: want at most %d", r.bytes, r.kept.Load(), maxKeptBytes)
	}
	if names := r.take(); len(names) == 0 || r.kept.Load() != 0 || r.bytes != 0 {
		t.Errorf("%d taken, %d left", len(names), r.kept.Load())
	}
}

// A name that is kept again while the first removal is under way stays.
func TestKeptAgainWhileSent(t *testing.T) {
	var r removals
	r.keep("k")
	first := r.next(1)[0]
	r.keep("k")
	r.sent(first)
	if !r.has("k") {
		t.Error("the second removal is forgotten with the first")
	}
	r.refuse(first)
	if r.unsent.Load() != 1 {
		t.Error("the second removal is refused with the first")
	}
}

// A server that is full has no memory for a tombstone, or for another number: it removes without.
func TestRemovalsOfAFullServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	var n network
	b := open(t, Options{Leases: LeasesOff}, s.Addr)
	for _, key := range []string{"k", "one", "kept"} {
		b.set(t, key, "old")
	}
	id := shared.ID{1}
	if _, _, err := b.Number(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	a := cutOff(t, s.Addr, &n, "kept")
	if _, _, err := a.Number(t.Context(), id, true); !errors.Is(err, shared.ErrUnavailable) {
		t.Fatal(err)
	}
	s.Do("CONFIG", "SET", "maxmemory", "1")
	a.reconnect(t, &n)
	a.missing(t, "kept")
	b.delete(t, "k")
	b.RemoveMulti(t.Context(), [][]byte{[]byte("one")}, func(_ int, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if left := s.Do("DBSIZE").Int; left != 0 {
		t.Errorf("%d keys are left", left)
	}
	if got := a.stats(); got.KeptRemovals != 0 {
		t.Errorf("%d removals are kept", got.KeptRemovals)
	}
}

// A request waits for removals that another sends, but not for ever.
func TestRequestsWaitForRemovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTier(Options{Addrs: []string{"none:1"}, Namespace: "test", Timeout: time.Second})
		o.wire.removals.keep("test:kk")
		s, _ := o.wire.removals.begin()
		began := time.Now()
		_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("other")})
		if waited := time.Since(began); !errors.Is(err, errRemoving) || !errors.Is(err, shared.ErrUnavailable) || waited != 2*time.Second {
			t.Errorf("%v after %v: want it unavailable after two seconds", err, waited)
		}
		done := make(chan error, 1)
		go func() {
			_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("other")})
			done <- err
		}()
		synctest.Wait()
		o.wire.removals.end(s, context.Canceled) // the sender's own context
		if err := <-done; !errors.Is(err, errNotConnected) {
			t.Errorf("%v: want that it has sent them itself", err)
		}
	})
}
