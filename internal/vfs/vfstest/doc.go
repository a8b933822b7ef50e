// Package vfstest has the test doubles of package vfs: file systems that live in
// memory, forget what a crash loses, and fail as they are told.
//
//	Mem         files and kept memory on the heap, with a quota          mem, memfile, memnode, memkept
//	CrashClone  the state of a Mem after a Kill or a PowerCut            crash, instant
//	Boundary    every moment of a scenario at which it may crash         boundary
//	Faulty      any file system behind rules that fail, delay or tear    faulty, faultyfile, faultymemory, rule
//	Op          one operation, as rules see it and the log remembers it  op, oplog
//
// Their tests stand beside those of the real file system, which they are to equal.
package vfstest
