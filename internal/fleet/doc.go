// Package fleet keeps copies of a shared tier's entries in the local tiers, and of the numbers
// that all processes agree on: which are trusted, how suspect ones are checked, and when copies
// are stored and dropped. Its words are those of package shared.
//
// # Why no copy is older than the bound
//
// Two promises: a copy that is trusted is no older than the bound, and a process never sees a
// key go back, except where the server itself has lost a write.
//
// A fill never brings back an older value. A read of the shared tier first watches the key,
// then sends its request, then stores the copy with SetIf. Whatever may make the answer old is
// a write of the key by the local write protocol, and ends the watch: another process's write,
// by its push; this process's own, which the server does not push to its writer, by the
// protocol below; another fill, for it is unknown which of two requests was later. So the copy
// is stored if no change of the key was heard of since before the request:
//
//   - A push that comes before the fill voids the watch: the fill is refused. One that comes
//     after it, for the write that the fill has read, drops the copy: a needless miss.
//   - Where the connection is lost, and the push with it, the copy has the stamp of the epoch
//     from before the request: it is suspect by itself.
//   - A Set, Delete, Compute, Touch or Clear of this process ends the watches of the key when
//     it is acknowledged, or has failed.
//   - A copy of another version that is here when a fill was refused may be the older one, of a
//     write that the server did before the one that was read: it is dropped.
//
// A write drops the copy, watches the key, has the server write, and stores its own copy if the
// watch is not void; if it is, or if it is unknown whether the server has written, it drops the
// key again.
//
//   - The first drop is for the bound: from some moment before the acknowledgement on the
//     server has the new value, and no push will say so.
//   - The second write, a copy or a drop, ends reads whose request came before the server's
//     write and whose fill comes afterwards.
//   - Two writes of one process may be done by the server in another order than they are
//     acknowledged. The first to store its copy voids the other's watch, and that drops the
//     key.
//   - A write after which another process wrote may be acknowledged when that one's push has
//     been handled. The push has ended the watch: nothing is stored.
//   - One that timed out may be done later. On the same connection any later request comes
//     after it; on another one it is pushed as any other process's.
//   - Compute makes the server write only over the version that it saw, be it a copy's: if that
//     is not the latest, the server refuses, the copy is dropped, and the next look goes to the
//     server.
//
// A push is a drop on the goroutine that reads from the network. It locks the shard, and for
// hot values a stripe, waits for nothing, and leaves calls of OnEvict to a goroutine of its
// own, which ends when they are made. It finds a copy on the SSD, on its way up (the token of
// its promotion is lost) or down (its demotion ends) as any write does.
//
// A copy is trusted while its epoch is the present one of its slot, and the server was heard of
// lately: the tier promises that all that was written until the bound before has been pushed,
// and handled here. Trust is checked after the copy was read. If nothing was trusted when it
// was read, and a push and then the server's word came before the check, an old copy would
// pass: so a reader notes before the look how often trust was given (Mark), and looks again if
// it was given since (Since). The word is given after the pushes before it are handled, and
// counted before it holds. What was loaded while the server was away is a copy without an
// epoch: its stamp is the moment until which it is trusted, the bound after its loader began.
//
// A check requests the version of a suspect copy. If that is the latest, the copy in RAM gets
// the stamp of the epoch of the request, under its shard's lock, if it has that version and its
// watch is not void: a push either comes before, and voids the watch, or after, and drops the
// copy. A copy on the SSD is not rewritten; a note in RAM names its version. Notes may be lost,
// which costs another check.
//
// # Files
//
//	fleet.go         the shared tier as the store uses it: opening, figures, times, health
//	invalidate.go    what the shared tier may call: pushes
//	answer.go        a copy, and an answer
//	copy.go          finding, storing and dropping copies; trailers
//	read.go          lookups; peek.go: those that count as no read, or that are kept above the store
//	queries.go       a batch; batch.go: many keys
//	write.go         writes, and many at once
//	attempt.go       a write by what a key holds
//	lease.go         what a load knows of an entry; load.go: leases of loads
//	numbers.go       copies of the numbers; number_reads.go: what a read makes of them, and
//	                 whether one changed meanwhile
package fleet
