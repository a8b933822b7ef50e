// Package policy decides which records the RAM tier keeps.
//
// # Words
//
//   - lane: a FIFO queue of records. Small takes what is new, Main what has
//     proved itself. A record changes place only by being copied when it
//     reaches its lane's tail.
//   - frequency: reads of a record since it was last copied, at most
//     [MaxFrequency]. It is all that a read writes.
//   - ghost: the fingerprint of a record that was evicted not long ago.
//   - age: a time, counted in evictions of the shard.
//   - setting: the parameters of the lanes, foremost the share of Small.
//   - sample: keys, chosen by their hashes, that stand for all. Of the smallest caches
//     that is every key.
//   - shadow: a miniature cache that lives under one setting on the requests of the
//     sample, as if it were the whole cache.
//
// # Algorithm
//
// Until the cache is full, every record enters Main. From then on a record
// enters Small, unless its key has a ghost younger than three quarters of the age of
// Main's tail: such a key was away for a shorter time than the oldest records of Main have
// stayed, so it enters Main. That is the comparison at the heart of LIRS (Jiang and
// Zhang, SIGMETRICS'02), made on clocks: it keeps a loop that is larger than
// the cache from flushing Main.
//
// Small gives a victim while it holds more than its share, otherwise Main
// does. At Small's tail, records that were read often enough move to Main and
// the others leave a ghost; at Main's tail, records that were read go round
// again with one read less. That is S3-FIFO (Yang et al., SOSP'23).
//
// No fixed share is good everywhere, so the [Tuner] keeps one shadow for each
// of a few settings, feeds them the requests of sampled keys, and lets the cache
// follow the setting whose shadow hits most: miniature simulation (Waldspurger
// et al., ATC'17). A read takes part in that for one key in 16 at most; of the sample's
// other keys the shadows see the reads when a record is drained.
//
// docs/internals/EVICTION.md has the comparison that led here, package sim repeats it.
package policy
