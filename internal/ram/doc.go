// Package ram is the RAM tier: records in off-heap segments, an index over
// them, and the policy that decides which ones stay.
//
// # Glossary
//
//   - record: a key, its value, deadline and version, in the log. It is dead when no
//     entry of the index names it.
//   - entry: the index's tag, frequency and location of a record. A location counts
//     units of memory from the beginning of the region.
//   - version: the number in a record's header that a writer changes when it overwrites
//     the value in place; odd meanwhile. Two bits of it are flags.
//   - region, segment: the tier's memory is one region, cut into segments of equal size.
//   - lane: a log to which a shard appends records, one for policy.Small and one for
//     policy.Main. Its last segment is open; its queue has the sealed ones, oldest
//     first. A record that does not fit in the rest of its segment continues in the
//     next: it straddles, and the segments are linked.
//   - shard: the keys whose hashes begin alike, with their index, segments and lanes,
//     all guarded by its mutex.
//   - pool: the segments that no shard uses, and the limit of those that are in use. A
//     claim is a write's hold on segments of the pool.
//   - epoch: a shard's counter for lock-free readers. It grows before a segment that
//     held records or index leaves the shard, and when Clear empties the index.
//   - evict: take a live record out because its room is needed. OnEvict is called for it.
//   - demote, promote: move a record to the lower tier, or back. A copy may stay behind.
//   - lower tier: what is evicted is offered to it; see LowerTier.
//   - invalidate: take an older copy of a key out of the lower tier.
//   - expire: pass the deadline. The record can be peeked at until its grace deadline,
//     and is past its grace after that.
//   - account, quota: what counts the records of a namespace's generation, and their limit
//     in bytes. Hand: where in a lane the next of them is searched that is to leave.
//   - obsolete: live, and without a reader: see SetObsolete.
//   - negative entry: a record with a deadline below 0. PeekStale alone finds it.
//   - step: the work of one hold of a shard's lock, in a loop through many records:
//     a few records, or a few thousand bytes. Others have the lock between two steps.
//   - walk: the way through the records of a segment, in steps.
//   - drain: the reclaiming of one segment, by a walk. It cleans, which moves the live
//     records to the end of their lane, or it evicts, as far as the policy wants.
//   - sweep: the search for records past their grace, by walks.
//   - watch: an observer of the writes of one key, for a write that is to happen only if
//     there was none (as WATCH in Redis).
//   - ghost, frequency, sample: see package policy.
//
// # The states of a record
//
//	        Set, Promote          deadline            grace deadline
//	absent --------------> live ------------> expired ---------------> past grace
//	                        |                    |                         |
//	                        | Delete, Clear, another Set of the key;       | the next sweep,
//	                        | eviction, demotion                           | drain or write
//	                        v                    v                         v
//	                      dead                 dead                      dead
//
//	        Set, deadline -d              d
//	absent ------------------> negative -----> past grace
//
// Get, Peek and All find live records; PeekStale also finds expired records and
// negative entries; nothing finds a record past its grace. Expired records are demoted
// as live ones are, negative entries are not. A dead record's bytes stay in their
// segment until that is released, and readers that were there notice.
//
// # The life of a segment
//
//	                  open                seal               beginDrain
//	 free <--> spare ------> open -------------> sealed ------------------> draining
//	(pool)       |         (end of a lane)    (in its queue)              (in no queue)
//	   ^         | AddChunk                        |                           |
//	   |         v                                 | its last record dies      | last step
//	   |     index chunk                           |                           |
//	   |         | Surplus                         |                           |
//	   +---------+---------------------------------+---------------------------+
//	       retire: the epoch grows, then the pool has it
//
// # Locks
//
// Lock order: large → shard.mu → the pool, the tuner's or the lower tier's;
// janitor.sweeping → shard.mu or the pool; resizing → the pool. No goroutine holds two
// shards' locks: one that needs a segment gives up its shard's lock first, reclaims one
// from that shard, or from the one that holds most if it holds less than its part, and starts again.
//
// # Reads
//
// Get takes no lock. It notes the shard's epoch, searches the index, copies the
// value, and then checks that the record's version, the index entry and the
// epoch are unchanged. An unchanged epoch says that none of the bytes were reused; an
// unchanged entry says that the record was live to the end; an unchanged even version
// says that its value was not overwritten in place. After a few failures a reader takes
// the shard's lock. The steps are numbered in Tier.get; docs/internals/CONCURRENCY.md has the
// argument in full. Peek, PeekStale and Deadline end in the same search, with
// flags for what to find and whether to copy it.
//
// # Files
//
// In an order to read them in:
//
//   - tier.go: Tier, shard and their locks; config.go, geometry.go, lifecycle.go: how a
//     tier is configured, cut up, made, closed and freed. clock.go: deadlines and the time.
//   - segments: the table of segments; the free ones and the writes that wait for some; those
//     worth cleaning. prefault.go: pages ahead of use.
//   - records.go, pieces.go, entry.go: a record's bytes; those of one that straddles.
//     scratch.go: room for copies.
//   - log.go: appending to a lane, and the account of its live bytes. entries.go: a writer's
//     search and removal of a record. deadlines.go: a deadline moved in place, or kept.
//   - get.go: Get and its general search, which elsewhere than on amd64 is all
//     (get_other.go). get_amd64.s: the same steps for usual records, as macros and put
//     together; get_amd64.go declares the result. get_multi.go, values.go: many Gets at
//     once. peek.go, iterate.go: the other reads. slide.go: deadlines that reads move.
//   - observe.go: the requests that the simulations of other sizes see, and the keys that were
//     read; simulations.go: how many simulations there are. read_times.go, probe.go: what reads
//     take.
//   - set.go, set_multi.go, delete.go: the writes; set_if.go: those of a watched key; touch.go:
//     that of a deadline alone; in_place.go, addition.go: those that depend on what a key has,
//     in one hold of a lock; clear.go: that of all.
//   - acquire.go: how a write gets segments. reclaim.go: which shard gives one up, and when;
//     evict.go, steps.go, walk.go: how. keepOrEvict in evict.go keeps or evicts a
//     record, by policy.Setting; lanes.go chooses a new record's lane, by policy.Ghosts.
//   - quotas: the quotas of namespaces, and the accounts of their records; accounts.go keeps
//     those, hold_quota.go evicts what is above one.
//   - lower_tier.go: the seam to a lower tier. demote.go, demote_parts.go, demotions.go,
//     demote_all.go, mirror.go, promote.go: the way there and back. force.go: eviction for tests.
//   - unlock.go: the records for which OnEvict is called when a shard is unlocked.
//   - sweep.go: records past their grace. obsolete.go: records without a reader.
//   - budget.go, resize.go: the budget and its parts; SetBytes.
//   - counters.go, stats.go, check.go: figures, and the check of everything for tests.
package ram
