package servertest

import (
	"strconv"
	"time"
)

// BeginMigration has a slot begin to move: from sends those who ask for a key that it has not
// to to.
func (c *Cluster) BeginMigration(slot int, from, to *Server) {
	c.t.Helper()
	to.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", c.ID(from))
	from.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", c.ID(to))
}

// MoveKeys moves the keys of such a slot.
func (c *Cluster) MoveKeys(slot int, from, to *Server) {
	c.t.Helper()
	for {
		keys := from.Do("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), "100").Items
		if len(keys) == 0 {
			return
		}
		args := []string{"MIGRATE", "127.0.0.1", strconv.Itoa(to.port), "", "0", strconv.FormatInt(Patience.Milliseconds(), 10)}
		if to.opts.Password != "" {
			args = append(args, "AUTH", to.opts.Password)
		}
		args = append(args, "KEYS")
		for _, k := range keys {
			args = append(args, k.Text)
		}
		from.Do(args...)
	}
}

// EndMigration gives the slot to to, and tells every primary.
func (c *Cluster) EndMigration(slot int, from, to *Server) {
	c.t.Helper()
	for _, s := range []*Server{to, from} {
		s.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", c.ID(to))
	}
}

// Migrate moves a slot with its keys.
func (c *Cluster) Migrate(slot int, from, to *Server) {
	c.t.Helper()
	c.BeginMigration(slot, from, to)
	c.MoveKeys(slot, from, to)
	c.EndMigration(slot, from, to)
}

// MigrateAtomically has the servers move a slot by themselves, which Redis does from 8.4 on, and
// Valkey from 9.0 on. It reports false for others.
func (c *Cluster) MigrateAtomically(slot int, from, to *Server) bool {
	c.t.Helper()
	s := strconv.Itoa(slot)
	switch b := from.Binary; {
	case b.Valkey && b.AtLeast(9, 0):
		from.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", s, s, "NODE", c.ID(to))
	case !b.Valkey && b.AtLeast(8, 4):
		to.Do("CLUSTER", "MIGRATION", "IMPORT", s, s)
	default:
		return false
	}
	c.WaitOwner(slot, to)
	return true
}

// Seize gives a slot to to without its keys, which from deletes when it hears of that, and waits until
// every node has.
func (c *Cluster) Seize(slot int, from, to *Server) {
	c.t.Helper()
	seize := func() {
		to.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", c.ID(from))
		to.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", c.ID(to))
	}
	seize()
	c.waitOwner(slot, to, seize)
}

// Failover has a replica take over from its primary, which agrees, and waits until it has.
func (c *Cluster) Failover(replica *Server) {
	c.t.Helper()
	from := replica.Mark()
	replica.Do("CLUSTER", "FAILOVER")
	replica.WaitLog(from, "Failover election won")
}

// Takeover has a replica take over without asking anybody.
func (c *Cluster) Takeover(replica *Server) {
	c.t.Helper()
	replica.Do("CLUSTER", "FAILOVER", "TAKEOVER")
}

// WaitElected waits until a replica has won an election since a mark of its log.
func (c *Cluster) WaitElected(replica *Server, from int) {
	c.t.Helper()
	replica.WaitLog(from, "Failover election won")
}

// WaitOK waits until the state of every node that answers and is not cut off is ok.
func (c *Cluster) WaitOK() {
	c.t.Helper()
	for _, s := range c.live() {
		for {
			from := s.Mark()
			if s.Info("cluster_state", "CLUSTER", "INFO") == "ok" {
				break
			}
			s.WaitLog(from, "Cluster state changed: ok")
		}
	}
}

// WaitOwner waits until every node that answers and is not cut off knows the owner of a slot.
// There is no event of that: it asks again and again.
func (c *Cluster) WaitOwner(slot int, owner *Server) {
	c.t.Helper()
	c.waitOwner(slot, owner, func() {})
}

// waitOwner is WaitOwner that calls seize while the owner does not know that it is: it has the slot
// only with the greatest epoch, and gives it back when it hears of a greater one.
func (c *Cluster) waitOwner(slot int, owner *Server, seize func()) {
	c.t.Helper()
	late := time.After(Patience)
	for _, s := range c.live() {
		for c.Owner(slot, s) != owner {
			select {
			case <-late:
				c.t.Fatalf("%s does not know that %s has slot %d:\n%s", s.Addr, owner.Addr, slot, s.Do("CLUSTER", "NODES").Text)
			case <-time.After(10 * time.Millisecond):
				owner.Do("CLUSTER", "BUMPEPOCH")
				if c.Owner(slot, owner) != owner {
					seize()
				}
			}
		}
	}
}
