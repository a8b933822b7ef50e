// Package shares limits how many bytes of the log the records of a namespace may have, so that a
// flood in one does not evict another's.
//
// The keys of a namespace begin with eight bytes, its number. A share counts what was appended
// under its numbers, segment by segment, dead records included, until the segment is reclaimed:
// the index does not know the namespace of an entry. For a segment that was written before the
// share was set, by an earlier process or this one, the tier estimates the bytes from some records.
//
//	shares.go  the shares of a log, by number
//	share.go   one of them
package shares
