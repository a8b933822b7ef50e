// Package local makes one store of the RAM tier and, if there is one, the SSD tier below it.
// The tiers do not know each other: they meet here. Above this package a caller sees one store,
// with errors in the user's words, one clock, and memory that lives as long as it is needed.
//
// # Words
//
//   - tier: a place for records: RAM, SSD. The lower tier is searched when the upper one has
//     nothing.
//   - demote: give the lower tier a record that RAM has no room for. Promote: put
//     a value read there back into RAM, and leave it below. Invalidate: take the
//     older copy of a key out of the lower tier when the key is written.
//   - recheck: look into RAM again after the lower tier had nothing, because a
//     write may have moved the key up between the two looks.
//   - deadline: when a value expires, in milliseconds of the store's clock, 0 for
//     never. Below 0 it is that of a negative entry: a record without a value, which
//     remembers that the key has none, until the deadline's negation.
//   - grace: how long a tier keeps a value after its deadline. Until then it is stale.
//   - obsolete: a record that can be found, and that has no reader any more.
//   - write hook: the caller's hook that has to know of every write of the bytes.
//   - token: a hook's result before a write, which it gets back after it.
//
// # Files
//
//	config.go    the configuration of a Store, its clock too; the write hook
//	errors.go    the errors of the tiers in the user's words
//	open.go      Open, Start, Clear
//	shutdown.go  Shutdown; pace.go: how it shares its time
//	store.go     Store, and how long its memory lives; quota.go: what a namespace may have of it
//	read.go      the ways to look a key up
//	lookup.go    a miss in RAM: the SSD tier, promotion, the second look
//	batch.go     many keys at once: lookups; batch_set.go: writes
//	write.go     the write protocol, which every change of a key follows
//	attempt.go   a change of a key by what it holds
//	touch.go     another deadline for a value
//	obsolete.go  records without a reader
//	registry.go  tags and namespaces; registry_owner.go: where their clocks lie
//	ssd_tier.go  the SSD tier as the RAM tier sees it, how it is opened, and what it evicts
//	mirror.go    copies on the SSD tier of what is in RAM alone
//	inside.go    what the live page shows, and what the tiers would do at other sizes
//	force.go     what tests force
package local
