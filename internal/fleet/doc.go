// Package fleet keeps copies of a shared tier's entries in the local tiers, and of the numbers
// that all processes agree on: which are trusted, how suspect ones are checked, and when copies
// are stored and dropped. Its words are those of package shared.
//
// The files:
//
//	fleet.go         the shared tier as the store uses it: opening, figures, times, health
//	push.go          what the shared tier may call: pushes
//	answer.go        a copy, and an answer
//	copy.go          finding, storing and dropping copies; trailers
//	read.go          lookups; peek.go: those that count as no read, or that are kept above the store
//	queries.go       a batch; batch.go: many keys
//	write.go         writes, and many at once
//	attempt.go       a write by what a key holds
//	lease.go         what a load knows of an entry; load.go: leases of loads
//	numbers.go       copies of the numbers; number_reads.go: what a read makes of them, and
//	                 whether one changed meanwhile
package fleet
