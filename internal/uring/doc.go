// Package uring is the little of Linux's io_uring that reading one file takes:
// a ring that reads are pushed to, one system call that submits them, and the
// completions that come back through shared memory.
//
// # Words
//
// A submission is one read as written into the submission queue; the kernel
// takes it over in Submit. A completion is its result in the completion queue,
// and carries the tag that the submission was given.
//
// # Rules
//
// One goroutine at a time may push, and one at a time may reap; the two need no
// lock between them. Submit may be called by any number at once: the kernel
// takes each submission once. The memory of a read must stay where it is, and
// unused, from Push until its completion was reaped.
package uring
