package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/cluster"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// clusterStaleness keeps the tests short: owners are confirmed every 160 ms.
const clusterStaleness = 400 * time.Millisecond

// clusterOf is a cluster, a tier on it that reads, and one that writes.
type clusterOf struct {
	*servertest.Cluster
	t              *testing.T
	reader, writer opened
}

func startCluster(t *testing.T, o servertest.ClusterOptions) *clusterOf {
	t.Helper()
	c := &clusterOf{Cluster: servertest.StartCluster(t, o), t: t}
	c.reader = open(t, Options{Staleness: clusterStaleness}, c.Nodes[0].Addr)
	c.writer = open(t, Options{Staleness: clusterStaleness}, c.Nodes[1].Addr, c.Nodes[2].Addr)
	for _, o := range []opened{c.reader, c.writer} {
		until(t, "the wires to all primaries", func() bool { return o.stats().Servers == 3 })
	}
	return c
}

// until waits for something that is not announced.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(servertest.Patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%s: does not come", what)
		}
	}
}

// copied reads a key until a copy of what is read is trusted, and returns the copy's stamp.
func (c *clusterOf) copied(key, want string) (stamp shared.Stamp) {
	c.t.Helper()
	var value string
	var err error
	for late := time.Now().Add(servertest.Patience); ; time.Sleep(time.Millisecond) {
		var f shared.Found
		value, f, err = c.read(key)
		stamp = f.Stamp
		if err == nil && value == want && c.reader.trust.Holds(stamp) {
			break
		}
		if time.Now().After(late) {
			c.t.Fatalf("%s: %q, %v, stamp %x: want a trusted copy of %q; %+v", key, value, err, stamp, want, c.reader.stats())
		}
	}
	return stamp
}

func (c *clusterOf) read(key string) (string, shared.Found, error) {
	f, err := c.reader.Read(c.t.Context(), nil, shared.Query{Key: []byte(key)})
	return string(f.Value), f, err
}

// suspect waits until a copy is not trusted.
func (c *clusterOf) suspect(stamp shared.Stamp) {
	c.t.Helper()
	until(c.t, "an end of the trust", func() bool { return !c.reader.trust.Holds(stamp) })
}

// write writes until that succeeds.
func (c *clusterOf) write(key, value string) {
	c.t.Helper()
	until(c.t, "a write of "+key, func() bool {
		_, err := c.writer.Write(c.t.Context(), shared.Entry{Key: []byte(key), Value: []byte(value)}, shared.Anything)
		if err != nil && !errors.Is(err, shared.ErrUnavailable) {
			c.t.Fatal(err)
		}
		return err == nil
	})
}

// home is the slot of a key, its owner and another primary.
func (c *clusterOf) home(key string) (slot int, owner, other *servertest.Server) {
	c.t.Helper()
	slot = slots.Of(c.reader.names.Entry([]byte(key)))
	owner = c.Owner(slot, c.Nodes[0])
	for _, other = range c.Nodes[:3] {
		if other != owner {
			return slot, owner, other
		}
	}
	return slot, owner, nil
}

// changed waits for what every change of an owner leads to: a trusted copy is of another epoch, the
// old one is suspect from then on, and the new one is announced when it changes.
func (c *clusterOf) changed(key string, old shared.Stamp, want string) {
	c.t.Helper()
	until(c.t, "another epoch of "+key, func() bool { return c.copied(key, want) != old })
	if c.reader.trust.Holds(old) {
		c.t.Errorf("%s: a copy from before the change of the owner is trusted", key)
	}
	seen := c.reader.store.count(key)
	c.write(key, want+"+")
	c.reader.store.wait(c.t, "of the write after the change", func() bool { return c.reader.store.keys[key] > seen })
	c.copied(key, want+"+")
}

func (s *store) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[key]
}

// unheard waits until a server has not been heard of for much longer than the bound: it is not
// late, it does not say what it has to.
func (o opened) unheard(t *testing.T) {
	t.Helper()
	until(t, "an end of the trust", func() bool { return o.stats().FeedLag > int64(5*clusterStaleness) })
}

func TestCluster(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		c := startCluster(t, servertest.ClusterOptions{Options: servertest.Options{Binary: b}})
		for _, test := range []struct {
			name string
			run  func(*clusterOf)
		}{ // in order: they leave the cluster changed
			{"all servers", (*clusterOf).usesAllServers},
			{"a slot on its way", (*clusterOf).followsAsk},
			{"a slot that moves", (*clusterOf).slotMoves},
			{"a slot that moves by itself", (*clusterOf).slotMovesByItself},
			{"a slot that moves without its keys", (*clusterOf).slotMovesWithoutKeys},
			{"a slot that moves out of reach", (*clusterOf).slotMovesOutOfReach},
			{"servers that send each other's requests back", (*clusterOf).endsOfRedirects},
			{"failover", (*clusterOf).failover},
			{"takeover", (*clusterOf).takeover},
			{"a primary that was stopped", (*clusterOf).primaryStopped},
		} {
			if !t.Run(test.name, func(t *testing.T) {
				c.t = t
				test.run(c)
			}) {
				return
			}
		}
	})
}

func (c *clusterOf) usesAllServers() {
	queries, entries, keys := make([]shared.Query, 300), make([]shared.Entry, 300), make([][]byte, 300)
	for i := range entries {
		keys[i] = []byte(fmt.Sprint("all", i))
		queries[i], entries[i] = shared.Query{Key: keys[i]}, shared.Entry{Key: keys[i], Value: keys[i]}
	}
	c.writer.WriteMulti(c.t.Context(), entries, func(i int, w shared.Written, err error) {
		if err != nil || w.Stamp.Slot() != slots.Of(c.reader.names.Entry(keys[i])) {
			c.t.Fatalf("write of %s: %+v, %v", keys[i], w, err)
		}
	})
	c.reader.ReadMulti(c.t.Context(), queries, func(i int, f shared.Found, err error) {
		if err != nil || string(f.Value) != string(keys[i]) || f.Stamp == 0 {
			c.t.Fatalf("read of %s: %+v, %v", keys[i], f, err)
		}
	})
	for _, s := range c.Nodes[:3] {
		if n := s.Do("DBSIZE").Int; n < 50 {
			c.t.Errorf("%s has %d keys of 300", s.Addr, n)
		}
	}
	if s := c.reader.stats(); s.Servers != 3 || s.Moved != 0 {
		c.t.Errorf("%d servers, %d requests sent elsewhere: want 3 and 0", s.Servers, s.Moved)
	}
	if err := c.writer.Clear(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	for _, s := range c.Nodes[:3] {
		if n := s.Do("DBSIZE").Int; n != 0 {
			c.t.Errorf("%s has %d keys after Clear", s.Addr, n)
		}
	}
	number, _, err := c.writer.Number(c.t.Context(), shared.ID{1}, false)
	if same, _, _ := c.reader.Number(c.t.Context(), shared.ID{1}, false); err != nil || same.Value != number.Value {
		c.t.Errorf("numbers %v and %v, %v: want the same", number, same, err)
	}
}

// While a slot is on its way, its keys are here or there. Copies of what is there already get no
// stamp: the slot's feed is that of its owner.
func (c *clusterOf) followsAsk() {
	c.write("{ask}a", "1")
	old := c.copied("{ask}a", "1")
	slot, from, to := c.home("{ask}a")
	seen := c.reader.store.count("{ask}a")
	c.BeginMigration(slot, from, to)
	c.MoveKeys(slot, from, to)
	c.reader.store.wait(c.t, "that the key has left", func() bool { return c.reader.store.keys["{ask}a"] > seen })
	if value, f, err := c.read("{ask}a"); err != nil || value != "1" || f.Stamp != 0 {
		c.t.Errorf("of a key that has moved: %q, %+v, %v: want 1 without a stamp", value, f, err)
	}
	w, err := c.writer.Write(c.t.Context(), shared.Entry{Key: []byte("{ask}new"), Value: []byte("2")}, shared.Expect{})
	if err != nil || w.Stamp != 0 {
		c.t.Errorf("a new key: %+v, %v: want no stamp", w, err)
	}
	c.reader.ReadMulti(c.t.Context(), []shared.Query{{Key: []byte("{ask}new")}, {Key: []byte("elsewhere")}}, func(i int, f shared.Found, err error) {
		if i == 0 && (err != nil || string(f.Value) != "2" || f.Stamp != 0) {
			c.t.Errorf("of a new key: %q, %+v, %v: want 2 without a stamp", f.Value, f, err)
		}
	})
	c.EndMigration(slot, from, to)
	c.changed("{ask}a", old, "1")
}

func (c *clusterOf) slotMoves() {
	c.write("{move}", "1")
	old := c.copied("{move}", "1")
	slot, from, to := c.home("{move}")
	c.Migrate(slot, from, to)
	c.changed("{move}", old, "1")
	back := c.copied("{move}", "1+")
	c.Migrate(slot, to, from)
	c.changed("{move}", back, "1+")
	if c.reader.trust.Holds(old) {
		c.t.Error("a copy is trusted again when the slot comes back")
	}
}

// The servers move the slot with its keys, and may announce that later.
func (c *clusterOf) slotMovesByItself() {
	c.write("{self}", "1")
	old := c.copied("{self}", "1")
	slot, from, to := c.home("{self}")
	if !c.MigrateAtomically(slot, from, to) {
		c.t.Skipf("no slot moves by itself on %s", from.Binary)
	}
	c.changed("{self}", old, "1")
}

// A server that loses a slot with keys in it announces nothing.
func (c *clusterOf) slotMovesWithoutKeys() {
	c.write("{lost}", "1")
	old := c.copied("{lost}", "1")
	slot, from, to := c.home("{lost}")
	c.Seize(slot, from, to)
	c.write("{lost}", "2")
	c.changed("{lost}", old, "2")
}

// The slot's new owner is out of reach: that the old one does not claim it any more is enough.
func (c *clusterOf) slotMovesOutOfReach() {
	c.write("{away}", "1")
	slot, from, to := c.home("{away}")
	reader := open(c.t, Options{Staleness: clusterStaleness, Dial: except(to)}, from.Addr)
	var old shared.Stamp
	until(c.t, "a trusted copy", func() bool {
		_, f := reader.get(c.t, "{away}")
		old = f.Stamp
		return reader.trust.Holds(old)
	})
	c.Seize(slot, from, to)
	reader.store.wait(c.t, "of the end of the owner's tenure", func() bool { return reader.store.epochs > 0 })
	if reader.trust.Holds(old) {
		c.t.Error("a copy is trusted of a slot whose owner does not claim it any more")
	}
}

// except makes connections to all servers but one.
func except(not *servertest.Server) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == not.Addr {
			return nil, errors.New("out of reach")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
}

func (c *clusterOf) endsOfRedirects() {
	slot, from, to := c.home("{loop}")
	c.copiedNothing("{loop}")
	from.Do("CLUSTER", "SETSLOT", fmt.Sprint(slot), "NODE", c.ID(to))
	if _, _, err := c.read("{loop}"); !errors.Is(err, shared.ErrUnavailable) {
		c.t.Errorf("%v, want ErrUnavailable", err)
	}
	from.Do("CLUSTER", "SETSLOT", fmt.Sprint(slot), "NODE", c.ID(from))
	for _, refusals := range []int{2, 1000} {
		calls := 0
		err := c.reader.cluster.Ask(c.t.Context(), "{loop}", func(w *wire.Wire, _ int) error {
			if calls++; calls > refusals {
				return nil
			}
			return w.Do(c.t.Context(), command.New("EVAL", "return redis.error_reply('TRYAGAIN later')", "1", "{loop}")).Error()
		})
		if ended := err == nil; ended != (refusals == 2) || calls != min(refusals+1, cluster.MaxRedirects) {
			c.t.Errorf("%d refusals: %d calls, %v", refusals, calls, err)
		}
	}
	c.write("{loop}", "1")
	c.copied("{loop}", "1")
}

func (c *clusterOf) copiedNothing(key string) {
	c.t.Helper()
	if _, f, err := c.read(key); !errors.Is(err, shared.ErrNotFound) || f.Stamp == 0 {
		c.t.Fatalf("%+v, %v: want nothing, with a stamp", f, err)
	}
}

// replicated waits until a primary's replica has what was written.
func (c *clusterOf) replicated(primary *servertest.Server, tag string) {
	c.t.Helper()
	conn, err := primary.Dial()
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	for _, args := range [][]string{{"SET", tag, "x"}, {"WAIT", "1", fmt.Sprint(servertest.Patience.Milliseconds())}} {
		if r, err := conn.Do(args...); err != nil || args[0] == "WAIT" && r.Int != 1 {
			c.t.Fatalf("%q: %+v, %v", args, r, err)
		}
	}
}

func (c *clusterOf) failover() {
	c.write("{failover}", "1")
	old := c.copied("{failover}", "1")
	slot, from, _ := c.home("{failover}")
	c.replicated(from, "{failover}")
	c.Failover(c.Pair(from))
	c.WaitOwner(slot, c.Pair(from)) // until then the old primary takes writes that are lost
	c.changed("{failover}", old, "1")
}

func (c *clusterOf) takeover() {
	c.write("{take}", "1")
	old := c.copied("{take}", "1")
	slot, from, _ := c.home("{take}")
	c.replicated(from, "{take}")
	c.Takeover(c.Pair(from))
	c.WaitOwner(slot, c.Pair(from))
	c.changed("{take}", old, "1")
}

// A primary that does not answer loses its trust at once, and its slots when its replica is
// elected. What could not be removed meanwhile can be removed there.
func (c *clusterOf) primaryStopped() {
	c.write("{stop}", "1")
	c.write("{stop}removed", "1")
	old := c.copied("{stop}", "1")
	_, from, _ := c.home("{stop}")
	c.replicated(from, "{stop}")
	replica := c.Pair(from)
	mark := replica.Mark()
	from.Freeze()
	if err := c.reader.Remove(c.t.Context(), []byte("{stop}removed"), shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
		c.t.Errorf("a removal that the primary does not answer: %v, want ErrUnavailable", err)
	}
	c.suspect(old)
	c.WaitElected(replica, mark)
	c.changed("{stop}", old, "1")
	if err := c.reader.Remove(c.t.Context(), []byte("{stop}removed"), shared.Anything); err != nil {
		c.t.Errorf("a removal at the new primary: %v", err)
	}
	if value, _, err := c.read("{stop}removed"); !errors.Is(err, shared.ErrNotFound) {
		c.t.Errorf("%q, %v of what was removed: want nothing", value, err)
	}
	from.Thaw()
	c.WaitOwner(slots.Of(c.reader.names.Entry([]byte("{stop}"))), replica)
	if value, _, err := c.read("{stop}"); err != nil || value != "1+" {
		c.t.Errorf("%q, %v after the old primary has come back: want 1+", value, err)
	}
}

// A primary that was cut off with a minority answers PING for ever, and for keys until its node
// timeout. One of the readers hears of nobody else.
func TestClusterMinority(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		for name, config := range map[string][]string{"keys are refused": nil, "keys are read": {"cluster-allow-reads-when-down yes"}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := startCluster(t, servertest.ClusterOptions{Options: servertest.Options{Binary: b, Config: config}})
				c.minority()
			})
		}
	})
}

func (c *clusterOf) minority() {
	c.write("{cut}", "1")
	slot, from, _ := c.home("{cut}")
	lone := open(c.t, Options{Staleness: clusterStaleness, Timeout: time.Second, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr != from.Addr {
			return nil, errors.New("out of reach")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}, from.Addr)
	old := c.copied("{cut}", "1")
	var alone shared.Stamp
	until(c.t, "trust of the one that reaches one server", func() bool {
		_, f := lone.get(c.t, "{cut}")
		alone = f.Stamp
		return lone.trust.Holds(alone)
	})
	c.replicated(from, "{cut}")
	replica := c.Pair(from)
	mark, lost := replica.Mark(), from.Mark()
	c.Cut(from)
	c.WaitElected(replica, mark)
	from.WaitLog(lost, "Cluster state changed: fail")
	lone.unheard(c.t)
	_, err := lone.Write(c.t.Context(), shared.Entry{Key: []byte("{cut}"), Value: []byte("lost")}, shared.Anything)
	if !errors.Is(err, shared.ErrUnavailable) {
		c.t.Errorf("a write to the server that was cut off: %v, want ErrUnavailable", err)
	}
	c.changed("{cut}", old, "1")
	if from.Do("PING").Text != "PONG" || lone.trust.Holds(alone) {
		c.t.Error("a copy from the server that was cut off is trusted")
	}
	c.Heal(from)
	c.WaitOwner(slot, replica)
	c.copied("{cut}", "1+")
}

// Without its map a server's slots are not trusted, though it answers for their keys, nor without
// their keys, though it answers PING.
func TestClusterWithoutMapOrKeys(t *testing.T) {
	t.Parallel()
	c := startCluster(t, servertest.ClusterOptions{NoReplicas: true})
	c.write("{map}", "1")
	old := c.copied("{map}", "1")
	_, from, _ := c.home("{map}")
	from.Do("ACL", "SETUSER", "default", "-cluster|slots")
	c.reader.unheard(t)
	c.suspect(old)
	if value, _, err := c.read("{map}"); err != nil || value != "1" {
		t.Errorf("%q, %v: want 1, without trust", value, err)
	}
	from.Do("ACL", "SETUSER", "default", "+cluster|slots")
	old = c.copied("{map}", "1")
	from.Do("ACL", "SETUSER", "default", "-getrange")
	c.reader.unheard(t)
	c.suspect(old)
}
