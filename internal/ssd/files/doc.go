// Package files is where an SSD tier keeps its data: its directory, and the memory
// in which its index outlives the process.
//
//	lock.go    who may use the directory
//	claim.go   whether the files in it are a tier's to overwrite
//	tracked.go the way to the files, which counts operations and bytes
//	direct.go  the log past the page cache, where that can be had
//	memory.go  the memory of the index
//	bootid_*   which run of the machine's system this is
package files
