// Package tiered makes one store of the cache's tiers: the RAM tier, below it
// the SSD tier, if there is one, and below both the tier that processes share, if there is
// one. It is where they meet; they do not know each other. Above it nobody asks how many tiers there are, what a tier's errors
// are called, by which clock it counts, or how long its memory lives.
//
//	       Get, Set            a Store's calls: read.go, batch.go, write.go
//	          |
//	   +------v------+
//	   |  RAM tier   |         internal/ram: evicts, and demotes what it evicts
//	   +--|-------^--+
//	demote|       |promote     lower.go, lookup.go
//	   +--v-------|--+
//	   |  SSD tier   |         internal/ssd
//	   +------^------+
//	    write | copies, push   shared_*.go
//	   +------v------+
//	   | shared tier |         internal/shared says what it is
//	   +-------------+
//
// # Words
//
//   - tier: a place for records: RAM, SSD. The lower tier is the one that is asked
//     when the upper one has nothing.
//   - demote: give the lower tier a record that RAM has no room for. Promote: put
//     a value read there back into RAM, and leave it below. Invalidate: take the
//     older copy of a key out of the lower tier when the key is written.
//   - recheck: look into RAM again after the lower tier had nothing, because a
//     write may have moved the key up between the two looks.
//   - deadline: when a value expires, in milliseconds of the store's clock, 0 for
//     never. Below 0 it is that of a negative entry: a record without a value, which
//     remembers that the key has none, until the deadline's negation.
//   - grace: how long a tier keeps a value after its deadline. Until then it is stale.
//   - obsolete: a record that can be found, and that nobody wants any more.
//   - clock offset: the number that makes milliseconds since 1970, which the SSD tier counts in,
//     of the store's clock.
//   - write hook: the caller's hook that has to know of every write of the bytes.
//   - token: a hook's result before a write, which it gets back after it.
//
// # Files
//
//	open.go      Open, Clear
//	shutdown.go  Shutdown; pace.go: how it shares its time
//	store.go     Store, and how long its memory lives
//	config.go    the configuration of a Store, its clock too
//	read.go      the ways to look a key up
//	lookup.go    a miss in RAM: the SSD tier, promotion, the second look
//	batch.go     many keys at once: lookups; batch_set.go: writes
//	write.go     the write protocol, which every change of a key follows
//	attempt.go   a change of a key by what it holds; in_place.go: in one hold of a lock
//	touch.go     another deadline for a value
//	registry.go  tags and namespaces; registry_owner.go: where their clocks lie
//	shared_numbers.go  copies of the numbers that all processes agree on; shared_number_reads.go:
//	             what a read makes of them; shared_moments.go: whether a number changed meanwhile
//	shared_front.go  what a cache above the store may keep
//	hook.go      who is told of every write; obsolete.go: who tells what nobody wants
//	evictions.go what the SSD tier evicts
//	ssd_tier.go  the SSD tier as the RAM tier sees it, and how it is opened
//	curve.go     what the tiers would do at other sizes; inside.go: what the live page shows
//	mirror.go    copies on the SSD tier of what is in RAM alone
//	force.go     what tests force
//	errors.go    the errors of the tiers in the user's words
//
// With a shared tier, whose words are those of package shared:
//
//	shared.go           the tier as the store uses it, its figures
//	shared_local.go     what it may call: pushes
//	shared_copy.go      copies in the local tiers: trailers, trust, storing and dropping them
//	shared_read.go      lookups; shared_peek.go: those that count as no read; shared_batch.go: many keys
//	shared_load.go      leases of loads; shared_times.go: how long the tier took
//	shared_write.go     writes; shared_batch_set.go: many; shared_attempt.go: by what a key holds
package tiered
