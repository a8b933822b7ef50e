// Package log is the segment log in memory, and the writer that brings it to the file. It
// knows locations and weights of records, and no keys: which records live is the caller's
// to know, who counts them with AddAlive.
//
// Terminology:
//
//	open      the segment that records are appended to; sealed: full, and waiting for the writer
//	slot      a segment's place in the file; bad: a write to it failed
//	alive     the weight of the records of a segment that the index names
//	victim    the segment that is to be reclaimed next
//	surplus   a slot that the files have no room for any more, and that is emptied
//	stalled   there is no room to append, for the disk has not taken the segments
//
// The files:
//
//	segment.go  a segment in memory, and its states
//	log.go      all of them, and the slots
//	append.go   appending, opening, sealing, freeing
//	flush.go    having all written
//	room.go     whether there is room to append, and waiting for it
//	pin.go      segments that are read in memory
//	piece.go    what is to be written next; writer.go: writing it
//	victim.go   which segment is reclaimed next; surplus.go: slots that there is no room for
//	map.go      the states of all slots, for the live page
//	restart.go  an empty log, and one that goes on; end.go: the end that a process left
package log
