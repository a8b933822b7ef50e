// Package ssd is the cache's second tier: a log of segments on a file system,
// with an index in memory that the collector does not see, and that outlives the
// process.
//
// Data flows through the files in this order:
//
//	tier.go       Open, and what a tier is made of; config.go: what it is told
//	geometry.go   segments and memory by the options, and whether a log is kept
//	memory.go     where the index lies, and survives a kill
//	attach.go     the index of a process that died; snapshot.go: of one that closed;
//	              rebuild.go: what the log lists, where it may be outdated
//	demote.go     what comes from above: Demote, Superseded
//	parts.go      values that are too long for one record; partread.go: their reads
//	admission.go  which records are worth writing; budget.go: and how much may be,
//	              day by day; budgetstate.go: what of that the next process is told
//	log.go        the open segment, and appending to it
//	direct.go     the log past the page cache, where that can be had
//	flush.go      segments on their way to the disk
//	read.go       what is asked for again: Get, GetMany
//	index.go      id → location; grow.go: tables that grow
//	keep.go       housekeeping: memory, time, and when to make room
//	reclaim.go    which segment makes room, and what becomes of its records
//	restart.go    an empty log, for Clear too; close.go: the end
//	health.go     what happens when the disk fails; lines.go: what the log is told
//
// Beside that, files that no tier has open are looked at in inspect.go and
// checked in verify.go, both by way of offline.go.
//
// # What makes it never stale
//
// A key is known here by its id, 40 bits of its hash. All that happens to an id
// happens under the lock of its index shard. A place in the log is told by its
// sequence number (LSN): the position of a byte in the endless log of which the
// segments hold parts.
//
//  1. The index alone says what is data. It holds at most one record for an id: the
//     latest version of its key, or another key's with the same id; the reader
//     compares keys.
//  2. A record is appended under its id's lock, after which the index names it.
//  3. A write of a key above takes the id out of the index, under the same lock,
//     before it is acknowledged.
//  4. Every checksum in the log covers the log's number and the LSN: a record that
//     the index names is read as what was written there, or as damaged.
//
// The index lies in memory that the system keeps when the process dies, however it
// does, and not when the machine does. So the next process finds it as 3 left it,
// and takes out what 2 named and nobody wrote to the disk: what it finds is the
// latest version of each key, or nothing. Where there is no such memory, or it is
// gone, the index that Close saved is believed if no process has used the files
// since, and otherwise nothing is. When the disk fails and the tier is switched off,
// a word in that memory says that nothing is data any more, which takes no disk.
// docs/FORMAT.md describes the files, and the memory.
package ssd
