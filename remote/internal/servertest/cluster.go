package servertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Slots is how many slots a cluster has.
const Slots = 16384

// ClusterOptions are those of a cluster.
type ClusterOptions struct {
	Options                   // of every node; without TLS, Unix and ReplicaOf
	NodeTimeout time.Duration // after which nodes take another for failed; 2 s by default
	Spare       int           // primaries that own no slots, beside the three
	NoReplicas  bool
}

// Cluster is three primaries, which own a third of the slots each, with a replica each. Every
// node's bus is behind a proxy, so that it can be cut.
type Cluster struct {
	Nodes []*Server // the primaries, the replicas in the same order, the spare ones

	t     testing.TB
	buses *buses
}

const primaries = 3

// StartCluster starts a cluster, and returns when every node says that its state is ok, and
// replicas have their primaries' data.
func StartCluster(t testing.TB, o ClusterOptions) *Cluster {
	t.Helper()
	if o.NodeTimeout == 0 {
		o.NodeTimeout = 2 * time.Second
	}
	c := &Cluster{t: t}
	for range o.count() {
		c.Nodes = append(c.Nodes, prepare(t, o.Options))
	}
	if !c.Nodes[0].Binary.AtLeast(7, 0) {
		t.Skipf("clusters of %s: want 7.0 or later (cluster-port)", c.Nodes[0].Binary)
	}
	c.buses = newBuses(t, len(c.Nodes))
	for i, s := range c.Nodes {
		s.choosePort()
		s.fixed = []string{
			"cluster-enabled yes", "cluster-config-file nodes.conf",
			fmt.Sprint("cluster-node-timeout ", o.NodeTimeout.Milliseconds()),
			fmt.Sprint("cluster-port ", c.buses.ports[i]), fmt.Sprint("cluster-announce-bus-port ", c.buses.announced[i]),
			"cluster-replica-validity-factor 0", "cluster-allow-replica-migration no",
		}
	}
	c.start(o)
	return c
}

// count is how many nodes there are.
func (o ClusterOptions) count() int {
	if o.NoReplicas {
		return primaries + o.Spare
	}
	return 2*primaries + o.Spare
}

// start writes what the nodes shall know of each other, which saves them the introduction,
// and starts them.
func (c *Cluster) start(o ClusterOptions) {
	c.t.Helper()
	for i, s := range c.Nodes {
		file := filepath.Join(s.Dir, "nodes.conf")
		if err := os.WriteFile(file, []byte(c.nodesConf(i, o)), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, s := range c.Nodes {
		if err := s.run(); err != nil {
			c.t.Fatalf("%s: %v\n%s", s.Binary.Path, err, s.log.text())
		}
	}
	for i, s := range c.Nodes {
		s.WaitLog(0, "Cluster state changed: ok")
		if o.isReplica(i) {
			s.WaitSynced()
		}
	}
}

func (o ClusterOptions) isReplica(i int) bool {
	return !o.NoReplicas && i >= primaries && i < 2*primaries
}

// nodesConf is the nodes as one of them knows them.
func (c *Cluster) nodesConf(self int, o ClusterOptions) string {
	var b strings.Builder
	for i, s := range c.Nodes {
		role, master, slots := "master", "-", ""
		switch {
		case o.isReplica(i):
			role, master = "slave", nodeID(i-primaries)
		case i < primaries:
			slots = fmt.Sprintf(" %d-%d", i*Slots/primaries, (i+1)*Slots/primaries-1)
		}
		if i == self {
			role = "myself," + role
		}
		epoch, shard := i+1, ""
		if o.isReplica(i) {
			epoch -= primaries // its primary's
		}
		if s.Binary.AtLeast(7, 2) {
			shard = ",,shard-id=" + nodeID(epoch)
		}
		fmt.Fprintf(&b, "%s 127.0.0.1:%d@%d%s %s %s 0 0 %d connected%s\n", nodeID(i), s.port, c.buses.announced[i], shard, role, master, epoch, slots)
	}
	fmt.Fprintf(&b, "vars currentEpoch %d lastVoteEpoch 0\n", len(c.Nodes))
	return b.String()
}

// nodeID is the name of a node, by its place.
func nodeID(i int) string { return fmt.Sprintf("%040x", i+1) }

// ID is the name of a node.
func (c *Cluster) ID(s *Server) string { return nodeID(c.index(s)) }

func (c *Cluster) index(s *Server) int {
	for i, n := range c.Nodes {
		if n == s {
			return i
		}
	}
	panic("servertest: the server is no node of this cluster")
}

// Addrs are the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, s := range c.Nodes {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// Pair is the replica that a primary has at the start, or the primary of that replica.
func (c *Cluster) Pair(s *Server) *Server { return c.Nodes[(c.index(s)+primaries)%(2*primaries)] }

// Slot is the slot of a key.
func (c *Cluster) Slot(key string) int {
	c.t.Helper()
	return int(c.live()[0].Do("CLUSTER", "KEYSLOT", key).Int)
}

// Owner is the owner of a slot as a node knows it; nil if it knows none.
func (c *Cluster) Owner(slot int, as *Server) *Server {
	c.t.Helper()
	for _, r := range as.Do("CLUSTER", "SLOTS").Items {
		if int64(slot) < r.Items[0].Int || int64(slot) > r.Items[1].Int {
			continue
		}
		port := strconv.FormatInt(r.Items[2].Items[1].Int, 10)
		for _, s := range c.Nodes {
			if strings.HasSuffix(s.Addr, ":"+port) {
				return s
			}
		}
	}
	return nil
}

// live are the nodes that answer, and are not cut off.
func (c *Cluster) live() []*Server {
	var live []*Server
	for i, s := range c.Nodes {
		if s.Answers() && !c.buses.isCut(i) {
			live = append(live, s)
		}
	}
	return live
}
