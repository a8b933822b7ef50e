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
// was heard of within Staleness. Otherwise it is suspect, and the server compares its version
// before it is an answer; while it is away, Options.Degraded says what the read does. The
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
// script.go), and need no +eval and +evalsha. docs/SHARED.md has a narrower list, by subcommand: of +client, TRACKING is used.
// A maxmemory with the policy allkeys-lru or allkeys-lfu lets it forget what is not read.
// Memory for the pushes that a slow process has not read yet is bounded with maxmemory-clients.
//
// # Words
//
// Those of package firn/internal/shared, and:
//
//   - wire: the way to one server, which connects again when its connection is lost.
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
//	remote.go, options.go,                   what a user has and chooses
//	option_error.go, leases_option.go
//	tier.go, open.go, pushes.go, stats.go    the tier: begin and end; what it hears of its servers; figures
//	read.go, write.go, touch.go, remove.go,  the calls of a store: entries and numbers
//	multi.go, number.go, clear.go, entry.go
//	checks.go                                checks of suspect copies: how many, and shared answers
//	conditional.go, lease.go, await.go       writes of what is expected; one load for all processes
//	used.go                                  what is used here, read on a server that evicts
//	held.go, awaits.go                       leases of this process; who waits for a name
//
// The packages in internal, each of which knows the ones before it only: command, slots and entry
// (what a server is sent, and what lies there), link (one connection), wire (the way to one server),
// cluster (which server owns a key; also of a server that is in no cluster).
package remote
