// Package index maps the ids of records to their locations in the log: an index in memory
// that the garbage collector does not see, and that the next process finds where this one
// was killed. A caller that searches or changes an id holds its shard's Mu.
//
// Terminology:
//
//	shard      the tables' part for the ids with the same high bits, with its lock
//	home       the slot where the search of a fingerprint begins
//	capacity   the slots that are homes of entries; the slack lies behind them
//	allowed    the bytes that the tables may take now; the limit is what they may be allowed
//	survivors  the entries of a table that a process left
//
// The files:
//
//	index.go      the tables, whose words package format has, and the search
//	grow.go       tables that grow, and their memory
//	survivors.go  tables that a process left
package index
