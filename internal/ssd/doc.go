// Package ssd is the cache's second tier: a log of segments on a file system,
// with an index in memory that the collector does not see.
//
// Data flows through the files in this order:
//
//	tier.go       Open, and what a tier is made of; config.go: what it is told
//	geometry.go   segments and memory by the options, and whether a log is kept
//	demote.go     what comes from above: Demote, Superseded, Commit
//	admission.go  which records are worth writing
//	log.go        the open segment, and appending to it
//	direct.go     the log past the page cache, where that can be had
//	flush.go      segments on their way to the disk
//	read.go       what is asked for again: Get, GetMany
//	index.go      id → location
//	keep.go       housekeeping: memory, time, and when to make room
//	reclaim.go    the oldest segment makes room
//	journal.go    what was superseded, before anybody is told that it was
//	recover.go    the index after a crash; scan.go: what a segment has;
//	              snapshot.go: the index after Close
//	restart.go    an empty log, for Clear too; close.go: the end
//	health.go     what happens when the disk fails; watchdog.go: or does nothing;
//	              lines.go: what the log is told
//
// Beside that, files that no tier has open are looked at in inspect.go and
// checked in verify.go, both by way of offline.go.
//
// # What makes it never stale
//
// A key is known here by its id, 40 bits of its hash. All that happens to an id
// happens under the lock of its index shard, and in the log and the journal in
// the order of the log's sequence numbers (LSN): the position of a byte in the
// endless log of which the segments hold the latest part.
//
//  1. The index holds at most one record for an id. A record that is in the
//     index is the latest version of its key, or another key's with the same
//     id: the reader compares keys.
//  2. A record is appended under its id's lock, after which the index names it.
//  3. A write of a key above takes the id out of the index, under the same lock,
//     and notes in the journal that every record of the id before this LSN is
//     dead. Before the write is acknowledged, the note has been handed to the
//     system, so that it survives the process.
//  4. An entry leaves the index only if the disk says by then that its record is
//     dead: by a note in the journal, by the floor below which everything is
//     dead, or because a later record has the same id.
//
// So whoever reads the log and the journal after the process died, and believes
// for each id only the latest record that no note kills, finds no version older
// than the last one acknowledged. Everything else here is about keeping 4 true
// when disks fail. docs/FORMAT.md describes the files.
package ssd
