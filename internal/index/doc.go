// Package index maps key hashes to locations in a tier's log.
//
// Terms: a bucket is one cache line of ten entries; an entry is a tag (a slice
// of the hash), a frequency of 0 to 3 and a location, a non-zero 32-bit number
// whose meaning is the tier's. A chunk is a piece of the tier's memory that
// holds buckets. The index never sees keys: tags and buckets narrow a search
// down to a few locations, and the tier compares the whole key there.
//
// A Table is a linear hash table (Litwin, VLDB 1980): it grows and shrinks by
// one bucket at a time, so there is no pause and no second copy of the table.
// A bucket that is full continues in a chain of overflow buckets, so no key is
// ever lost. The idea of tags matched in one step by word arithmetic is that of
// Swiss tables and F14; buckets of one cache line with a link are FASTER's.
//
// One writer at a time changes a table (the tier's shard lock); readers take no
// lock. The guarantees for readers are listed at Bucket and Table.
package index
