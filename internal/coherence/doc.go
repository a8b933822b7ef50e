// Package coherence keeps small caches of decoded values, which lie above the
// bytes, from answering with what the bytes no longer are.
//
// # Terminology
//
//   - bytes: the entries of the cache.
//   - front: a cache of decoded values, of the keys of one namespace.
//   - namespace: the keys that begin with the number of its current generation.
//   - generation: a number of a namespace, and a moment from which on its fronts
//     were filled.
//   - to fill: to put into a front a value read from the bytes.
//   - stripe: a counter of the writes of some of the keys.
//
// # Coherence
//
// A read that finds a value in a front must return what a read of the bytes
// would, or could have before they were evicted. So the front is emptied of a
// key before its bytes change, and filled only with bytes that did not change
// meanwhile. Every key belongs to a stripe, of which state is a counter of
// writes.
//
// A write of a key, by any call (Set, Delete, SetMulti, a load that stores
// its value):
//
//  1. under the stripe's lock: counts itself in, and deletes the key from the
//     fronts of its namespace (BeforeWrite);
//  2. changes the bytes;
//  3. counts itself out (AfterWrite), and returns to its caller.
//
// A read that finds nothing in the front:
//
//  1. loads the state (BeginFill); if a write is under way, it will not fill the
//     front;
//  2. reads the bytes, and the deadline, and decodes;
//  3. under the stripe's lock: if the state is the same, puts the value there
//     (Fill.Lock, Fill.Unlock).
//
// So a front holds a key only from a moment at which no write of it was under
// way until the next one begins: if the read's step 3 comes first, the write's
// step 1 deletes the value; if it comes later, the state has changed. In that
// time the bytes are as they were read, or gone. A hit therefore returns what the
// bytes held at that moment, which makes it linearizable together with reads
// and writes of the bytes. It does not follow eviction: a front may still
// have the last value of a key that RAM has lost.
//
// Clear of a namespace, Cache.Clear and Close make another generation the current
// one, the last two with all stripes counted in: a front's entry refers to the
// generation that was current before its bytes were read, and is worth nothing
// under another. Expired entries are recognized by their deadline.
//
// With a shared tier a push is a write, and drops its key. That is all a front is told of other
// processes: whether its entry may be an answer while no push could have come, by the
// generation's number and by the stamp that the entry bears, its owner asks at each hit.
//
// So does a front that is detached: writes do not empty it from then on, and nobody
// may read it.
//
// Where a first front is attached while writes are under way, those did not
// count themselves in; they look again before they return, and delete then what
// the front may have taken meanwhile. So no read that begins after such a write
// has returned finds an older value either.
//
// # Files
//
//   - table.go: the fronts of a cache, and the calls of its writes
//   - stripe.go: the counters of writes, and the calls of fills
//   - generation.go: the generations of a namespace
//   - hits.go: the count of the values that fronts had
package coherence
