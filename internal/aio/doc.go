// Package aio reads one file with many reads in flight, so that a fast disk is
// kept busy by few threads.
//
// # Engines
//
// An engine brings the reads to the system. libaio, Linux's older asynchronous I/O
// without the C library of that name, is the best for files that were opened with
// O_DIRECT, and can be had where io_uring is forbidden, as by Docker's default seccomp
// profile, switched off or not there yet. io_uring is for the others, and for overlays.
// pread works everywhere, and takes a goroutine and a thread for each read in flight. The
// first two are one engine (ring) with two queues of the kernel's (kernelQueue): one
// goroutine of theirs waits in Go's poller and settles the reads that have come back.
// libaio's completions also appear in memory: while few reads are in flight, a caller that
// would only wait looks there for a while (collect).
// What the kernel gives back undone, or does not take at all, they leave to preads. A
// caller hands its reads over by itself, but for files on an overlay read by libaio:
// that may wait there, and a goroutine of its own does it.
//
// # Words
//
// A read is one range of the file, wanted by one Request. A call is one Read or
// ReadMany, and waits for its reads. A read is queued until there is a slot for
// it, of which there are Config.Depth, and memory, Config.Memory, and then in
// flight until the system gives it back. A call whose context ends leaves: its
// queued reads are forgotten, and those in flight are abandoned, which means that
// nobody waits for them any more.
//
// # Slow disks
//
// Try and TryMany are for callers who can do without the answer. They are refused
// while Config.Callers others wait, and once the disk has been silent for
// Config.Silence: it has reads, and gives none of them back. They leave at their
// deadlines. So neither a slow disk nor a stuck one gathers callers. Read and
// ReadMany are never refused; they queue behind the others, first come, first
// served.
//
// # Who owns the bytes
//
// A read takes its buffer from the Reader's pool when it gets its slot, so at
// most Depth buffers are in flight. Until the system gives the read back, the
// buffer belongs to the system, also if the read was abandoned: it is released
// only afterwards, and so never reused while the device may still write to it.
// A buffer that a call returns belongs to the caller, who releases it.
package aio
