// Package format is the layout of the SSD tier's bytes: in its files, and in the
// memory in which its index outlives the process. It encodes and decodes them, and
// does nothing else: it opens no file, and knows no tier. The tier, and the tools
// that inspect and verify its files, read them by this one decoder.
//
// Terminology:
//
//	log         the endless sequence of records, of which the file has the last part
//	segment     a piece of the log, of one size, written once, from its header to its
//	            trailer
//	serial      the number of a segment in the log, from 1 on
//	slot        a segment's place in the file, used again when the segment is reclaimed
//	LSN         the position of a byte in the log: serial · segment size + offset
//	unit        the alignment of records
//	location    where a record begins in the file, in units: the slot and the offset
//	record      header, key and value, and zeros up to a unit
//	list        the records of a sealed segment: for each its id and length
//	trailer     the end of a sealed segment: where its list is, and when it was sealed
//	origin      the log's number and an LSN, which checksums in the log cover: bytes of
//	            another log, or of another place, are as wrong as damaged ones
//	id          40 bits of a key's hash, by which the tier knows the key
//	shard       the part of the index that has the ids with the same high bits
//	fingerprint the low bits of an id, as many as an entry has room for
//	entry       one word of the index: fingerprint, location, and the record's class
//	class       a bound of a record's length, or that it is a part or a head
//	weight      about how many bytes a record of a class has
//	part, head  records of a value that is too long for one: the pieces, and the one
//	            with the key, which says how many there are
//	superblock  which log the files hold, and where its index is
//	snapshot    the index in a file, written by Close
//
// Numbers in the files are little-endian, checksums are CRC-32C. Nothing is believed
// before its checksum, and no memory follows from a length that a file claims.
// docs/internals/FORMAT.md describes the files; testdata/vectors.md has examples, which
// vectors_test.go reads.
//
// The files:
//
//	checksum.go   the version, checksums and origins
//	geometry.go   LSNs, locations, and the capacity of a segment
//	id.go         ids of keys, records and parts; index_entry.go: words of the index
//	record.go     records; parts.go: the keys of parts, and heads
//	segment.go    headers and trailers; ends.go: both of a slot; list.go: lists
//	superblock.go the two superblocks, and which of them is valid; write_budget.go: what one
//	              has of the write budget
//	snapshot.go   the part of a snapshot before the entries
//	memory.go     the memory of the index
//	names.go      the files of a directory
package format
