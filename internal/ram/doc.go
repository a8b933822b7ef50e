// Package ram is the RAM tier: records in off-heap segments, an index over
// them, and the policy that decides what leaves.
//
// # Terms
//
// The tier's memory is one region cut into segments of equal size. A segment is
// free (in the pool), spare (held by a shard for its next need), an index chunk,
// open (the end of a lane, being filled), sealed (in a queue, waiting to be
// reclaimed) or being drained (out of it, while its records leave or move, a few at
// a time). A lane is where a shard appends records of one queue; the queues
// are policy.Small and main. A record that does not fit in the rest of its segment
// continues in the next: it straddles, and the segments are linked.
//
// A shard owns the keys whose hashes begin alike: their index, segments and
// queues, all guarded by its mutex. The pool hands segments to shards under a
// lock of its own, taken last. No goroutine ever holds two shards' locks: who
// needs a segment gives up its shard's lock first, reclaims one from whichever
// shard is victimShard, and starts again.
//
// # Reads
//
// Get takes no lock. It notes the shard's epoch, searches the index, copies the
// value, and then checks that the record's version, the index entry and the
// epoch are unchanged. The epoch grows before a segment that held records or
// index leaves the shard, so an unchanged epoch says that none of the bytes
// were reused; an unchanged entry says that the record was live to the end; an
// unchanged even version says that its value was not overwritten in place.
// After a few failures a reader takes the shard's lock. docs/CONCURRENCY.md
// has the argument in full.
package ram
