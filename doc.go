// Package firn is a cache for bytes, in memory that the garbage collector never sees: a
// collection takes no longer however many entries there are. What has no room there can go to an
// SSD, and outlive the process; what several processes are to agree on can lie on a Redis or
// Valkey server below both.
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
// [NewTyped] makes a cache of keys and values of any type on it.
//
// # Words
//
// A cache holds entries: a key, a value and, if it has a time to live, a deadline. The budget is
// the memory that it may use. A load is a call of the user's function, the loader, that fetches a
// missing value. A tier is RAM, or the files on the SSD: entries are demoted to the SSD when RAM
// needs room and admission lets them, and promoted when they are read. The shared tier is a
// server: what RAM and SSD have of its entries are copies.
//
// # Guarantees
//
//   - The budget counts keys, values, index and bookkeeping, those of the SSD tier too.
//     SSDOptions.Bytes counts every file.
//   - When a Set returns nil, every Get that begins later finds the value, or a newer one,
//     until the entry leaves. What cannot be stored is an error.
//   - No value is stale unless an option allows it, and none is torn or another key's, also on
//     the SSD, and after a crash: keys are compared in full.
//   - Every size goes through one Set: from nothing to a quarter of the budget, key and value
//     together.
//   - Reads and writes of one key are linearizable within a process. A batch, an iteration, Len
//     and Stats are not snapshots.
//   - Get, Set and the batch calls allocate nothing, if the slice that Get appends to is large
//     enough and there is no OnEvict.
//   - OnEvict, loaders and the handler of a logger run outside every lock and may use the cache.
//     Options.Clock may not.
//   - Close and Shutdown stop all goroutines but those of loaders. Using a closed cache is safe.
//     A cache that was forgotten is freed by the collector.
//
// # Contexts
//
// Calls that can wait, for a disk, a server or a loader, take a context first, and return when it
// ends. Six calls of one key take none: Get, Has, TTL, Set, SetWithTTL and Delete wait as
// SSDOptions.ReadTimeout and remote.Options.Timeout say. Their forms with a context are
// Lookup, LookupEntry, SetWith and DeleteMulti.
//
// # Who owns which bytes
//
// No method keeps a slice that it was given: keys and values may be changed once the call has
// returned. The bytes that Get, Lookup and GetOrLoad return are the caller's: dst, extended. Lent
// are those of Batch.Value until the batch is used again, of All until the loop's next step, of
// OnEvict and the function of Compute until that returns, of CachedValue until the loader does.
//
// # On SSD
//
// With SSDOptions, entries that RAM has no room for are written to files and found there. After
// Close the next Open has all entries of both tiers at once. After a kill it has, on Linux,
// those that had been written: all but the entries in RAM alone (see SSDOptions.MirrorEvery) and
// about the last second of those that left it. After a crash of the machine the tier starts empty.
//
// When Set, Delete or Clear returns, no older value of the key on the SSD can come back. They do
// not read or write the disk; but a Set that has to make room in RAM waits a moment while the
// disk is behind. Faults of the disk, and reads of a slow one, are misses; Lookup returns the
// error. Keys that share 40 bits of their hash push each other out of the SSD.
//
// # Shared by processes
//
// With Options.Shared, which package github.com/firncache/firn/remote makes, reads go to RAM, the
// SSD, the server and the loader, in this order; writes go to the server, and return when it has
// them. A copy is an answer while it is trusted; the servers push what others change.
//
//   - The bound: a read that a copy answers returns a value at least as new as the server had
//     it remote.Options.Staleness ago, whatever happens to the network but a failover of a
//     cluster. Only remote.DegradedStale and LoadingOptions.StaleIfError allow older answers.
//   - Within a process, a read after a Set that returned finds that value or a newer one, except
//     after a failover that loses writes.
//   - While the server is away for longer than the bound, remote.Options.Degraded says what a
//     read does. Writes and deletes fail with ErrSharedUnavailable, and may have happened or not.
//   - Compute and the calls made of it are one step over all processes. Processes share one
//     load of a key through leases; correctness does not depend on them.
//   - All, Len, OnEvict and SetRAMBytes are about the local tiers; Clear is about all.
//
// # Time
//
// While the process runs, no value is returned after its deadline, unless LoadingOptions allow it.
// Reads compare it with a coarse time that a goroutine keeps, and with the exact one if less than a
// second is left. While the machine sleeps the lives of values go on, except on macOS and the BSDs. Setting the
// wall clock changes no life while a cache is open. An expired entry gives its memory back
// within seconds, without a read.
//
// In a field, a time to live of 0 means the default, Forever no end. Calls want a millisecond
// or more, or Forever: a number without a unit is of nanoseconds. SetLoadTTL of 0 or
// less keeps nothing.
//
// docs/GETTING-STARTED.md goes by task; docs/DEFAULTS.md has every default and limit,
// docs/ERRORS.md every error, docs/OPERATIONS.md what survives which end, docs/SHARED.md the
// shared tier, docs/internals how it works.
package firn

// The files of the package:
//
//	cache.go             Cache: Open, Get, Set, Delete, Clear
//	shutdown.go          Close, and Shutdown with a deadline
//	batch.go             GetMulti, SetMulti, DeleteMulti
//	compute.go           Compute, and what is made of it
//	touch.go             Forever, Touch, ExpireAfterAccess
//	entry.go             Entry: value, time to live, tier and outcome; LookupEntry
//	load.go              GetOrLoad, Refresh; SetLoadTTL and CachedValue, for loaders
//	codec.go             Codec, and the default ones
//	set_options.go       SetOptions
//	typed.go             Typed: keys and values of any type, above the bytes
//	typed_*.go           its loads, batches, Compute, events, tags and namespace
//	hot.go               hot values: decoded, above a Typed
//	options.go           Options and LoadingOptions, and their validation; SharedTier, Tracer
//	options_ssd.go       SSDOptions, likewise
//	errors.go            the errors that a caller may test for
//	listeners.go         OnEvict: the listeners for entries that leave
//	stats.go             the counts of the tiers as package stats has them
//	seams.go             what the live page, the command and tests reach beyond Stats
//
// One word has one meaning in the whole tree; each package's own words open its doc.go:
//
//	entry        a key with its value, as a user has it; record: its bytes in a tier
//	tier         a place for records: the RAM tier, and the SSD tier, which is its lower tier
//	evict        take a record out of a tier to make room; expire: pass its deadline
//	demote       write a record that RAM evicts to the SSD; promote: put it back, a copy stays
//	invalidate   take the older copy of a key out of the SSD tier when the key is written
//	reclaim      make a segment of a tier's log free: clean it, or evict what lives in it
//	admission    the decision which records are worth a write of the SSD
//	load         the fetching of a value by a loader; flight: a load under way
//	refresh      a load of a value that is there, mostly in the background
//	stale        past its deadline, and an answer still; negative: known to have no value
//	namespace    the entries of the typed caches of one name and type of keys; generation: its
//	             number, which Clear changes; fingerprint: of a type's layout and codec
//	tag          a name that typed values carry; obsolete: found, but no answer any more, as
//	             a value whose tag was invalidated
//	registry     the numbers of generations and tags, where a kill leaves them
//	watch        a look-out for writes of one key; attempt: a change of a key under a watch
//	copy         what the local tiers, RAM and SSD, have of an entry of the shared tier; trusted: it
//	             may be an answer as it is; suspect: it has to be checked before
//	check        compare a suspect copy's version with the server's; the latest is trusted again
//	feed         a server's word of what changes; push: of one key that another process has changed
//	epoch        of a feed: the time in which it was never interrupted
//	lease        an entry without a value, by which one process says that it loads the key
//	bound        how much older than the shared tier an answer may be
//	front        decoded values above a typed cache; stripe: keys that share its counter of writes
//	version      of a record: the number that a writer changes; of an entry of the shared tier:
//	             the random one that names a write; epoch: of the RAM tier's readers, or of a feed
//	Store        store.Store, the tiers as one; plan: the capacity plan of the command
//
// What they do is in internal/load (loads), internal/typed, internal/codec and
// internal/coherence (typed values), internal/local (RAM over SSD), internal/fleet (copies of
// what a shared tier has, which is in the module firn/remote), and internal/store (both as one).
