// Package load fetches missing values with the user's functions, one load of a
// key at a time, and decides the answers to callers meanwhile. It depends on a
// few calls of the store, and not on the cache.
//
// # Words
//
//   - load: the fetching of one key's value. loader: the user's function that does it.
//   - flight: a load under way. flight.go has a picture of its states.
//   - shard: the flights of the keys whose hashes end alike, guarded by its mutex.
//   - call: one call of a loader, for the flights of one key or of many.
//   - join: begin to wait for a flight that is there.
//   - forget: hide a flight from later callers, and do not store its value.
//   - abandoned: a flight without callers: flight.go says when. A call whose
//     flights all are is cancelled.
//   - refresh: a load of a key that has a value; mostly in the background.
//   - stale: past its deadline, and still an answer, for as long as the options say.
//   - negative entry: a remembered ErrNotFound.
//   - failure: a remembered error of a load, or that it panicked. For a while it pauses
//     the loads of its key.
//   - directives: a loader's wishes for its values, given through its context.
//   - slot: the permit that a call needs to run if there is a limit. A call that a loader waits
//     for bypasses the limit.
//   - lease: with a shared tier, what lets one process load a key, and the others wait for it:
//     see package shared. A load that has one releases it when it stores nothing.
//   - recheck: look into the cache again after joining, for a value that a load has stored
//     between the caller's miss and its join.
//
// # Why no load brings an older value back
//
// The first caller that misses begins to watch the key, looks once more, and then starts the
// loader. If the key is written, the flight answers its waiters, stores nothing, and takes no
// more callers. Its end, with no lock held between the steps: the value is stored, unless the
// key was written; the flight leaves the list and its callers are woken; the watch ends;
// OnEvict gets what left. So no other load of the key begins before, and a stuck disk holds up
// only those who wait for this value.
//
// A watch lies in the key's shard of RAM, and all of it happens under the shard's lock. It
// becomes void with a Set, also one that fails, a Delete, Clear or the store of another load,
// once in effect. The store of a load refuses if its own watch is void; its own outlives it.
//
//   - A write during a load wins. If it comes first, the store finds its watch void; if second,
//     it replaces what was stored.
//   - A call after a write gets no answer of a load from before it: the watch was void before
//     the write was acknowledged, and joining looks at it.
//   - With a shared tier, a flight watches its key and then takes a lease, and its store
//     expects that at the server: a write of any process ends the lease, so the server refuses
//     what was loaded before it, whether or not its push has come. A watch that a push has
//     voided, as other processes' leases do when all miss a key at once, only keeps callers
//     from joining: the store follows the lease, and its copy is watched from before the
//     request.
//   - A flight that waits for another process holds no slot, and one that waits for a slot
//     holds no lease: so two processes wait for each other only where their loaders load each
//     other's keys, and then no longer than leases live. A lease is released at each end of a
//     load that stores nothing, after its callers were woken.
//   - A load that is given up makes its own watch void without the lock. A newer load registers
//     under that lock and looks into RAM after it: it finds what the older one stored, or the
//     older one finds its watch void.
//
// # Files
//
//	config.go        the configuration of a Group, the calls of the tiers, and Outcome
//	group.go         Group: the loads under way, in shards
//	load.go          a load from the miss to the answer
//	multi.go         the loads of a batch
//	shared.go        the shared tier, read before the loader; waits for processes
//	lease.go         leases: held, released; calls that are split for them
//	refresh.go       Refresh, and refreshes in the background
//	flight.go        the states of a load, in a picture; when its call is cancelled
//	context.go       the context of a call
//	alarm.go         one timer for all hard timeouts
//	join.go          who joins a load, who leaves it, how it ends
//	limiter.go       how many loaders run
//	directives.go    SetLoadTTL, ForKey
//	conditional.go   CachedValue, and loaders that answer that nothing was modified
//	result.go        how a load ended
//	store_result.go  storing the result, negative entries too
//	stale.go         answers that are there already: stale, negative, by another load
//	failures.go      the last loads that failed: pauses, remembered errors
//	lifetimes.go     deadlines: jitter, and when a value needs a refresh
//	stats.go         counters
//	logger.go        log lines for what no caller sees
package load
