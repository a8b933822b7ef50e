// Package bufpool lends byte buffers by size class and reads streams to their
// end without leaving garbage.
//
//	b := bufpool.Get(4096)      // length 0, capacity at least 4096
//	defer b.Release()
//	b.Write(header)
//
//	body, err := bufpool.ReadAll(resp.Body, resp.ContentLength)
//	if err != nil {
//		return err              // nothing to release
//	}
//	defer body.Release()
//	parse(body.Bytes())
//
// # Words
//
// A pool has levels. A level is a buffer size and the blocks of that size. A
// block is the memory of one buffer; it is idle, lent, or given back. A Buffer
// is the handle of a lent block. A reference is the right to use a Buffer, and
// the duty to call Release once.
//
// # Who owns the bytes
//
// Get, ReadAll and ReadAllN give the caller one reference. Retain adds one for
// another owner, Release ends one, and with the last the block is idle: after
// that neither the Buffer nor a slice of it may be touched. A caller that
// forgets Release costs the pool the block, which the collector then takes.
//
// A Buffer with one reference belongs to one goroutine at a time. While it has
// several it is shared and read-only: Bytes, Len, Cap, Retain and Release may
// be called from any goroutine, and every method that would change it panics.
//
// Bytes ends at the end of its own block, so an append to it never reaches a
// neighbour.
//
// # What a pool keeps
//
// Idle blocks lie in one cache per processor, as in [sync.Pool]: taking and
// releasing is free of locks, and a block that stays idle for two cycles of the
// garbage collector is given back (Go runs a cycle at least every two minutes,
// so four minutes at most). There is no goroutine and nothing to close.
// Options.MaxBytes and Level.MaxBytes are ceilings: a buffer released while the
// pool, or the level, owns more bytes than that is given back at once.
//
// A level grows by as many blocks as it has, in one allocation of up to 64 KiB.
// The memory of such a growth step is counted, and given back, as a whole. From
// 64 KiB up an idle buffer of up to four times the size is lent before that.
//
// # Misuse
//
// Use after Release, Release twice and changing a shared Buffer panic, where
// the block has not been lent again since. A checked pool (Options.Checked, or
// the build tag bufpoolcheck for every pool) finds them always: each Get returns
// a fresh handle; released memory is poisoned, inspected and not lent again; and
// Leaks lists buffers that were not released, with the stack that took it. It is
// several times slower and allocates. FailOnLeak does the same for a test.
//
// No pool finds a read through a slice that was kept beyond Release. In a checked
// one such a slice shows poison, bytes of 0xDB, for good, and never another
// owner's bytes: a test sees it where it looks at what was read. A write through it
// is found when the block is lent again, and under the race detector both are if
// they come from another goroutine.
//
// # Off-heap levels
//
// The blocks of a level with OffHeap lie outside the Go heap, so that gigabytes
// of them cost the collector nothing. A slice of such a buffer that is used
// after Release may fault. One that is never released is never unmapped. In a
// checked pool these levels are on the heap, where addresses are not used anew
// as long as a slice points to them.
package bufpool
