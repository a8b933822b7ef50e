// Package remote is a tier on a Redis or Valkey server, or a cluster of them, that the caches of
// several processes share:
//
//	shared, err := remote.Open(remote.Options{Addrs: []string{"cache:6379"}, Namespace: "shop"})
//	…
//	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 30, Shared: shared})
//
// Every call of the cache then goes through RAM, the SSD if there is one, the server, and the
// loader, in this order. What a cache has in RAM or on its SSD is a copy of what the server has,
// and answers reads without asking it, as long as it is known to be new enough.
//
// # What it promises
//
// A read that a copy answers returns a value at least as new as the server had it
// Options.Staleness ago, whatever happens to the network. While everything works, a write is seen
// by the other processes within about a round trip, as the server pushes the keys that change. A
// copy is trusted while its server's pushes were not interrupted since it was read, and the server
// was heard of within Staleness. Otherwise it is suspect, and the server is asked for its version
// before it is an answer; if it cannot be asked, Options.Degraded says what the read does. The
// promise has these limits:
//
//   - Failover between a primary and its replicas loses writes that were acknowledged; so a removal
//     may be lost, and the entry is back for the rest of its life.
//   - What the server evicts or lets expire is dropped in all processes: it has to have room for
//     what is to be shared.
//   - A process that stood still, by a signal or with its whole machine, may answer with older
//     copies when it goes on, until its clock is set: about 20 ms.
//   - Deadlines are compared with the clock of the machine: they are as far apart as the clocks of
//     the processes.
//   - A server without CLIENT TRACKING, or behind a proxy that does not know
//     it, pushes nothing: there are no copies then, or with Options.CopyTTL such as live for so
//     long. Stats' Tracking and the log say it.
//
// # What the server needs
//
// Redis 6.2 or newer, or Valkey, with RESP3, and a user of its ACL with these rights; database 0.
//
//	user cache on >password ~namespace:* &* -@all +hello +client +ping +info +scan
//	    +getrange +pttl +set +del +unlink +eval +evalsha +command +cluster
//
// A cluster needs +asking in addition: of +cluster, MYID, INFO and SLOTS are used. The bound of
// Options.Staleness is longer there while a primary that was cut off is replaced.
//
// Redis 8.4 and Valkey 8.1 have SET IFEQ, with which a load costs its own process no push (see
// conditional.go), and need no +eval and +evalsha. docs/SHARED.md has a narrower list, by subcommand: of +client, TRACKING is used.
// A maxmemory with the policy allkeys-lru or allkeys-lfu lets it forget what nobody asks for.
// Memory for the pushes that a slow process has not read yet is bounded with maxmemory-clients.
//
// # Words
//
// Those of package firn/internal/shared, and:
//
//   - wire: the way to one server, which connects again when its connection is lost. All that one
//     process asks of a server goes over one connection: the server pushes nothing to it that
//     was changed on the same one.
//   - connection: one of a wire's, one after the other. Each begins an epoch.
//   - feed: the pushes of a connection: the names of changed keys.
//   - heartbeat: the PINGs of a connection, and what their PONGs vouch for.
//   - envelope: the 32 bytes before a value on the server.
//   - foreign: said of what lies under our names and was written by no cache.
//   - piece: the part of a value that one request reads.
//   - tombstone: an entry without a value, which remembers that a key was removed.
//   - claim: what a server of a cluster says of itself, that it owns slots.
//   - tenure: the time in which one server owns slots, and its feed is not interrupted.
//   - guided: said of a wire by which a slot's requests go that is on its way to another server.
//   - away: said of a server that does not answer: requests fail at once until it does.
//
// # Files
//
//	options.go, option_error.go, leases.go   what a user chooses
//	tier.go                                  the tier: Open, Close, what it logs
//	wire.go                                  the way to one server: connected, lost, asked
//	conn.go, socket.go, server.go            one connection: made once, checked, lost
//	feed.go                                  what a server pushes, told to the local tiers
//	heartbeat.go, watchdog.go, clock_*.go    until when copies are trusted; silence
//	names.go, envelope.go, entry.go          what lies on the server: names, bytes, deadlines, compression
//	read.go, write.go, touch.go, remove.go,  the calls of a store
//	multi.go, number.go, clear.go
//	used.go                                  what is used here, read on a server that evicts
//	conditional.go, lease.go                 writes of what is expected; one load for all processes
//	abilities.go                             what a server can compare
//	await.go, awaits.go                      waiting for another process's load
//	held.go                                  leases of this process: extended, given up
//	guard.go, presence.go                    what every request goes through; whether its server answers
//	checks.go                                checks of suspect copies: how many, and shared answers
//	slots.go, cluster_map.go, tenure.go      a cluster: the slot of a key, who claims which
//	topology.go, cluster.go,                 its wires, and who owns which slot
//	cluster_update.go
//	cluster_beat.go, redirect.go             its heartbeat; requests that are sent elsewhere
//	stats.go, command.go                     counters; commands of the transport
//
// The transport is github.com/redis/rueidis, of which neither the cache nor the reconnecting is
// used: which connection was lost, and when, is what coherence rests on.
package remote
