// Package check looks at the files of an SSD tier that no process has open: Inspect
// lists what they hold, Verify whether all of it is whole. Neither writes anything,
// nothing found is believed before its checksum, and memory does not follow from
// sizes that the files claim. Package format has the words.
//
//	offline.go  the files that both read: the superblock, the ends of the segments, their lists
//	inspect.go  Inspect; inspection.go: its result; kept.go: an index that outlived its process
//	verify.go   Verify; entries.go: the snapshot against the log
//
// Only the command imports it.
package check
