// Package kaio is the little of Linux's native asynchronous I/O (io_setup,
// io_submit, …; what the C library libaio wraps) that reading one file takes: a
// queue that reads are pushed to, one system call that submits them, and the
// completions that come back through memory that the kernel shares.
//
// # Words
//
// A submission is one read as written into the queue; the kernel takes it over in
// Submit. A completion is its result in the kernel's ring, and carries the tag
// that the submission was given.
//
// # Rules
//
// One goroutine at a time may push, one may submit, and one may reap; the three
// need no lock between them. The memory of a read must stay where it is, and
// unused, from Push until its completion was reaped.
//
// # What it is good for
//
// Reads of a file that was opened with O_DIRECT: they wait for nothing in Submit.
// Every read asks for that with RWF_NOWAIT, and comes back with EAGAIN where it
// would have to wait, be it for a lock, for room in the device's queue, or, without
// O_DIRECT, for bytes that are not in the page cache. Its reaper then reads
// in a way that may wait. An overlay, as containers have it, cannot be asked so:
// there Submit may wait, see MayWait. Other file systems that cannot are refused,
// for many read in Submit, one after the other.
//
// The kernel cannot take a read of a disk back: io_cancel fails for them, and a
// process does not end before the reads that it has in flight.
package kaio
