// Package ssd is the cache's second tier: a log of segments on a file system, with
// an index in memory that the garbage collector does not see, and that outlives the
// process.
//
// Terminology, beside that of package format (log, segment, serial, slot, LSN, unit,
// location, record, list, id, entry, weight, part, head, superblock, snapshot):
//
//	demote      take over a record that leaves RAM: append it, and let the index name it
//	invalidate  take a key's record out of the index, because the key was written in RAM
//	evict       take a record out to make room
//	alive       a record that an entry of the index names; all others are dead
//	reclaim     free a slot: move the records of its segment to the end of the log, or
//	            evict them
//	obsolete    alive, without a reader: see SetObsolete
//	admission   the decision whether a record is worth writing
//	selective   admission while live records fill the log: not every record gets in
//	budget      how many bytes may be written, day by day
//	starved     the index is short of memory, which RAM has yet to make room for
//	maintain    the goroutine that makes room, and gives the index memory
//	source      where the index comes from at Open: the snapshot that Close saved, the
//	            memory that a process left which did not close, or the log's lists
//	offline     a tier whose disk failed: RAM goes on alone, and the disk is tried again
//
// The files, each after those that it needs. Beside them,
// package format is the bytes on disk, package files the directory, package index leads
// from an id to its location, package log is the log in memory, package admission decides
// which records are written, package health counts the faults of the disk, and package
// check looks at the files when no tier has them open.
//
//	config.go      the options of a tier; sizes.go: sizes of segments and memory
//	wall_clock.go  the time; tasks.go: goroutines
//	memory.go      the memory charged to RAM
//	superblock.go  the superblock's file
//	tier.go        the parts of a tier, its states, and the order of the locks
//	share.go       what namespaces may have of the log
//	liveness.go    the live part of the log, and records that leave; parts.go: sizes of values in parts
//	new_log.go     an empty log, for Clear too; offline.go: the tier after its disk failed
//	ref.go         a record that the index named; lists.go: which records a segment has
//	reclaim.go     the records of a segment that is reclaimed
//	cut_file.go    slots for which there is no room any more, and the file without them
//	evictions.go   records that the user is notified of when they go
//	wait_room.go   waiting for room, and how much there is
//	demote.go      records from RAM; demote_parts.go: values in parts; transfer.go: one on its
//	               way; compress.go
//	invalidate.go  records that were written in RAM, or may have been meanwhile
//	obsolete.go    records without a reader
//	block.go       how a compressed value begins
//	fetch.go       reading bytes; reader.go
//	failed_read.go what a damaged record costs, and a read that failed
//	read.go        Get; read_parts.go: values in parts; get_many.go: GetMany; iterate.go: All
//	recover_source.go   whether the log is kept, and where its index comes from
//	recover_memory.go   the index of a tier that was not closed
//	recover_lists.go    the index from the lists of the log
//	snapshot.go    the index of a tier that was closed; shard_loader.go: reading a part of it
//	maintain.go    the goroutine that maintains; stats.go; inside.go: what a page shows
//	               beside those; plan.go: sizes for planning
//	open.go        Open; start.go: Start; close.go: Close and Free; unsaved.go: what a Close
//	               that failed leaves behind
//
// # What makes it never stale
//
// A key is known here by its id, 40 bits of its hash. All that happens to an id
// happens under the lock of its index shard. A place in the log is known by its
// sequence number (LSN): the position of a byte in the endless log of which the
// segments hold parts.
//
//  1. The index alone says what is data. It holds at most one record for an id: the
//     latest version of its key, or another key's with the same id; the reader
//     compares keys.
//  2. A record is appended under its id's lock, after which the index names it.
//  3. A write of a key in RAM takes the id out of the index, under the same lock,
//     before it is acknowledged.
//  4. Every checksum in the log covers the log's number and the LSN: a record that
//     the index names is read as it was written, or as damaged.
//
// The index lies in memory that the system keeps when the process dies, however it
// does, and not when the machine does. So the next process finds it as 3 left it,
// and takes out the records that 2 named and that were not written to the disk: those it finds
// are the latest version of each key, or nothing. Where there is no such memory, or
// it is gone, the index that Close saved is believed if no process has used the files
// since, and otherwise nothing is. When the disk fails and the tier goes offline, a
// word in that memory says that nothing is data any more, which takes no disk.
// docs/internals/FORMAT.md describes the files, memory.go of package format the memory.
package ssd
