// Package aio reads one file with many reads in flight, so that a fast disk is
// kept busy by few threads.
//
// # Words
//
// A read is one range of the file, wanted by one Request. A call is one Read or
// ReadMany, and waits for its reads. A read is queued until there is a slot for
// it, of which there are Config.Depth, and then in flight until the system gives
// it back. A call whose context ends leaves: its queued reads are forgotten, and
// those in flight are abandoned, which means that nobody waits for them any more.
//
// # Who owns the bytes
//
// A read takes its buffer from the Reader's pool when it gets its slot, so at
// most Depth buffers are in flight. Until the system gives the read back, the
// buffer belongs to the system, also if the read was abandoned: it is released
// only afterwards, and so never reused while the device may still write to it.
// A buffer that a call returns belongs to the caller, who releases it.
package aio
