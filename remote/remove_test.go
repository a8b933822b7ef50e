package remote

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"

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
	if err := o.wire().Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return opened{sharedTier: o, store: newStore()}
}

// A removal that failed is not done later, when others have written the key: the caller has the
// error. A number that could not be renewed is as it was, too.
func TestFailedRemovalIsNotDoneLater(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	b := open(t, Options{}, s.Addr)
	b.set(t, "k", "old")
	id := shared.ID{1}
	before, _, err := b.Number(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	var n network
	a := withoutHeartbeat(t, s.Addr, &n)
	c := a.wire().Conn()
	n.set(true)
	c.Kill()
	_ = a.wire().Connect(t.Context()) // fails
	if err := a.Remove(t.Context(), []byte("k"), shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
		t.Fatalf("Remove: %v: want it unavailable", err)
	}
	a.RemoveMulti(t.Context(), [][]byte{[]byte("k")}, func(_ int, err error) {
		if !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("RemoveMulti: %v: want it unavailable", err)
		}
	})
	if _, _, err := a.Number(t.Context(), id, true); !errors.Is(err, shared.ErrUnavailable) {
		t.Fatalf("Number: %v: want it unavailable", err)
	}
	b.set(t, "k", "written since, and acknowledged")
	n.set(false)
	if err := a.wire().Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := a.get(t, "k"); got != "written since, and acknowledged" {
		t.Errorf("%q: want what was written since", got)
	}
	if now, _, err := a.Number(t.Context(), id, false); err != nil || now.Value != before.Value {
		t.Errorf("%v, %v: want the number %v", now, err, before)
	}
}

// A server that is full has no memory for a tombstone: it removes without.
func TestRemovalsOfAFullServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	b := open(t, Options{Leases: LeasesOff}, s.Addr)
	for _, key := range []string{"k", "one"} {
		b.set(t, key, "old")
	}
	s.Do("CONFIG", "SET", "maxmemory", "1")
	b.delete(t, "k")
	b.RemoveMulti(t.Context(), [][]byte{[]byte("one")}, func(_ int, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if left := s.Do("DBSIZE").Int; left > 1 { // the token
		t.Errorf("%d keys are left", left)
	}
}
