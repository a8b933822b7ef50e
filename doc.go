// Package firn is a cache for bytes, in memory that the garbage collector never
// sees: however many entries there are, a collection takes no longer. What has
// no room there can go to an SSD, and outlive the process; what several processes are to
// agree on can lie on a Redis or Valkey server below both.
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
// deadline. An entry leaves for one of the seven causes of [Cause]: RAM or the SSD
// needed its room, its time was over, its key was set again, it was deleted, it
// went to the SSD, or it may be older than the shared tier. The budget is the
// memory that a cache may use. A load is a call of the user's function that
// fetches a missing value. A tier is RAM, or the files on the SSD: entries are
// demoted to the SSD when RAM needs room and admission lets them, and promoted
// when they are read. The shared tier is a server that several processes have in
// common: what RAM and the SSD have of its entries are copies.
//
// # Guarantees
//
//   - The budget counts everything: keys, values, index and bookkeeping, those
//     of the SSD tier too. SSDOptions.Bytes counts every file.
//   - A read finds the last write. When a Set returns nil, every Get that begins
//     later finds the value, or a newer one, until the entry leaves. What cannot
//     be stored is an error.
//   - A value is never stale, never torn and never another key's. Keys are
//     compared in full, whatever their hashes. This holds for what lies on the
//     SSD as well, also after a crash.
//   - Every size goes through one Set: from nothing to a quarter of the budget,
//     key and value together.
//   - Reads and writes of one key are linearizable, within a process. A batch, an iteration, Len and Stats
//     are not snapshots: each part is right for a moment of its own.
//   - Get, Set and the batch calls allocate nothing, if the slice that Get
//     appends to is large enough and there is no OnEvict.
//   - OnEvict, loaders and the handler of a logger run outside every lock and may
//     use the cache. Options.Clock may not.
//   - Close and Shutdown stop all goroutines that the cache started. Using a closed
//     cache is safe.
//
// # Changes by what is there
//
// [Cache.Compute] changes an entry by what it is, as one step: nothing is written between
// the look and the change, or the function runs again. SetIfAbsent, CompareAndSwap,
// Increment and GetAndDelete are made of it. A disk that fails makes an error of them,
// and no absent entry; but an entry may be evicted at any time, and is absent then: what
// must not be lost does not belong into a cache.
//
// # Who owns which bytes
//
// No method keeps a slice that it was given: keys and values may be changed
// once the call has returned. The bytes that Get, Lookup and GetOrLoad return are the
// caller's: dst, extended. Three slices are only lent: those of Batch.Value
// until the batch is used again, those of All until the loop's next step, and
// those of Options.OnEvict until it returns. A [LoadFunc] may keep its key, and
// must leave the value alone that it returned.
//
// # On SSD
//
// With [SSDOptions], entries that RAM has no room for are written to files and found
// there. After Close the next Open has all entries of both tiers at once. After a kill it
// has, on Linux, those that had been written: all but the entries in RAM alone and about
// the last second of those that left it; Stats.SSD.Kept says whether that holds here.
// After a crash of the machine the tier starts empty. docs/OPERATIONS.md has each case,
// and RecoverAlways.
//
// When Set, Delete or Clear returns, no older value of the key on the SSD can come back.
// They do not read or write the disk, so a stuck disk does not stop them; but a Set that
// has to make room in RAM waits a moment while the disk is behind. Faults of the disk are
// misses, and so are reads of a slow disk (SSDOptions.ReadTimeout); Lookup returns the
// error.
//
// Options.OnEvict is called for entries that go to the SSD, and for those that leave it,
// only with OnEvictCauses. Len counts an entry that is in both tiers twice.
//
// # Shared by processes
//
// With [Options].Shared, which package github.com/firncache/firn/remote makes, the caches of
// several processes have a server of Redis or Valkey below them, or a cluster. Reads go to
// RAM, the SSD, the server and the loader, in this order; writes go to the server, and return
// when it has them. A copy is an answer, as fast as without a server, while it is trusted;
// the servers push what others change, and copies of that are gone at once.
//
//   - The bound: a read that a copy answers returns a value at least as new as the server had
//     it remote.Options.Staleness ago, whatever happens to the network. In a cluster it
//     is longer during a failover, by the time in which a primary that was cut off goes on
//     answering. Two options allow older answers: remote.DegradedStale and
//     LoadingOptions.StaleIfError.
//   - Within a process, what the server has acknowledged is not undone: a read after a Set
//     finds that value or a newer one, and reads of a key do not go back in time, except
//     after a failover that loses writes.
//   - An entry that the server evicts or loses is missing here, too, within the bound. A
//     failover may lose acknowledged writes, and a deleted value may be back until its time
//     is over.
//   - When the server is away for longer than the bound, copies are suspect: each is
//     checked before it is an answer. remote.Options.Degraded says what a read does with
//     those that cannot be checked. Writes and deletes fail with ErrSharedUnavailable, and
//     may have happened or not.
//   - Compute and the calls made of it are one step over all processes. Processes share one
//     load of a key through leases. Leases save work; correctness does not depend on them.
//   - All, Len, OnEvict and SetRAMBytes are about the local tiers; Clear is about all.
//
// Calls without a context wait for the server no longer than remote.Options.Timeout, those
// with one until it ends. docs/SHARED.md has the rest: when it pays, how to size and secure a
// server, and what it costs.
//
// # Time
//
// A value is not returned after its deadline while the process runs. Reads compare the
// deadline with a coarse time that a goroutine of the process keeps, and with the exact one
// if less than a second is left. So a value can be read after its deadline only if that
// goroutine had no processor for more than a second; with Options.Clock, never. While the
// machine sleeps the lives of values go on, except on macOS and the BSDs. Setting the wall
// clock changes no life while a cache is open. If it was put forward before Open, entries
// of an earlier process expire early; if it was set back, time goes on from that process's
// Close.
//
// A time to live of 0 is a field's default, and Forever is none: Options.TTL 0 is Forever,
// TypedOptions.TTL and SetOptions.TTL 0 are the next level's. Calls that take one
// (SetWithTTL, Touch, OpSetTTL) want a millisecond or more, or Forever, since a time that was
// computed and has passed is a mistake there, and so is a number without a unit, which is of
// nanoseconds; SetLoadTTL of 0 or less keeps nothing.
//
// An expired entry gives its memory back within seconds, without a read: a
// goroutine of the cache, which starts with the first deadline, looks for it once a
// second. It calls OnEvict, and waits for it.
//
// # Typed values
//
// [Typed] keeps values of any type under keys of any kind, as bytes, with a
// [Codec]. Several share a Cache, each in a namespace that can be cleared in the
// time of one Set. Bytes that another codec wrote, or another version of a type,
// are a miss and a counter, never a wrong value. TypedOptions.HotValues keeps
// decoded values above it, so that the hottest reads neither copy nor decode.
//
// There is no second API for asynchronous use: calls that may wait take a
// context, and return when it ends.
//
// # Loading
//
// GetOrLoad calls a function for a value that is missing, once for all callers.
// [LoadingOptions] makes it refresh values ahead of time, return expired ones
// while the source is slow or down, and remember which keys the source does not have.
// Expired values are returned by GetOrLoad and GetOrLoadMulti alone, and only with these
// options.
//
// # Caveats
//
//   - Hits and misses are counted without synchronization: reads that run at the
//     same moment may be counted once. The other counters are exact.
//   - A cache that was forgotten is freed by the collector, if Close was not called.
//   - Close returns the memory at once, and the address space when the cache is
//     collected, so that a late reader finds zeros and not a fault.
//   - SetRAMBytes reaches down to about a sixteenth of the first budget, and up
//     to Options.MaxRAMBytes, for which Open reserves address space.
//   - The SSD tier knows a key by 40 bits of its hash: keys that share them push
//     each other out there.
//   - Without an SSD tier nothing outlives the process.
//
// docs/internals/DESIGN.md describes how it works, docs/internals/CONCURRENCY.md why reads need no lock,
// docs/internals/FORMAT.md the layout of the files.
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
//	Store        tiered.Store, the tiers as one; plan: the capacity plan of the command
//
// What they do is in internal/load (loads), internal/typed, internal/codec and
// internal/coherence (typed values), and internal/tiered (RAM over SSD, and over a shared tier,
// which is in the module firn/remote).
