// Package firn is a cache for bytes, in memory that the garbage collector never
// sees: however many entries there are, a collection takes no longer.
//
//	c, err := firn.Open(firn.Options{RAMBytes: 1 << 30})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//
//	err = c.Set(key, value)
//	value, ok := c.Get(buf[:0], key) // appends to buf
//
// # Words
//
// A cache holds entries: a key, a value and, if it has a time to live, a
// deadline. An entry leaves for one of four causes: its room was needed, its
// time was over, its key was set again, or it was deleted. The budget is the
// memory that a cache may use. A load is a call of the user's function that
// fetches a missing value.
//
// # Guarantees
//
//   - The budget counts everything: keys, values, index and bookkeeping.
//   - What was written is read. When a Set returns nil, every Get that begins
//     later finds the value, or a newer one, until the entry leaves. What cannot
//     be stored is an error.
//   - A value is never stale, never torn and never another key's. Keys are
//     compared in full, whatever their hashes.
//   - Every size goes through one Set: from nothing to a quarter of the budget,
//     key and value together.
//   - Reads and writes of one key are linearizable. A batch, an iteration, Len and Stats
//     are not snapshots: each part is right for a moment of its own.
//   - Get, Set and the batch calls allocate nothing, if the slice that Get
//     appends to is large enough and nobody listens to evictions.
//   - Callbacks run outside every lock and may use the cache.
//   - Close stops whatever the cache started. Using a closed cache is safe.
//
// # Who owns which bytes
//
// No method keeps a slice that it was given: keys and values may be changed
// once the call has returned. What Get, Lookup and GetOrLoad return is the
// caller's: dst, extended. Three slices are only lent: those of Batch.Value
// until the batch is used again, those of All until the loop's next step, and
// those of Options.OnEvict until it returns. A [LoadFunc] may keep its key, and
// must leave the value alone that it returned.
//
// # Time
//
// A value is never returned after its deadline. Its memory comes back within
// seconds, without a read: a goroutine that starts with the first deadline looks
// for what has expired once a second.
//
// # Loading
//
// GetOrLoad calls a function for a value that is missing, once for all who ask.
// [LoadingOptions] makes it refresh values ahead of time, return expired ones
// while the source is slow or down, and remember what the source does not have.
// Expired values are returned by GetOrLoad and GetOrLoadMulti alone, and only if
// these options ask for it.
//
// # Caveats
//
//   - Hits and misses are counted without synchronization: reads that run at the
//     same moment may be counted once. The other counters are exact.
//   - A cache whose OnEvict refers to the cache itself is freed only by Close.
//     Others are freed by the collector too, if they were forgotten.
//   - Close returns the memory at once, and the address space when the cache is
//     collected, so that a late reader finds zeros and not a fault.
//   - SetRAMBytes reaches down to about a sixteenth of the first budget, and up
//     to Options.MaxRAMBytes, for which Open reserves address space.
//   - Nothing outlives the process.
//
// docs/DESIGN.md tells how it works, docs/CONCURRENCY.md why reads need no lock.
package firn
