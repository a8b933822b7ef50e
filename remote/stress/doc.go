// Package stress has the test of what a shared tier promises, over processes, faults and
// millions of reads. It starts itself as several processes beside a real server, each
// behind a proxy of its own, and they read and write the same keys while the network, the
// server and the processes fail.
//
//	parent: rounds, faults, checker ──── commands, records (pipes) ───┐
//	   |                                                             v
//	   +── proxy 0 <── process 0: cache, RAM alone                 workers
//	   +── proxy 1 <── process 1: cache, RAM and SSD               workers
//	   +── proxy 2 <── process 2: cache, RAM and SSD               workers
//	          |
//	        server
//
// The value of a key is a number that grows with each of its writes: the time, by the clock
// that all processes of a machine have, CLOCK_MONOTONIC, when the write began. So a value
// needs no register to tell how old it is.
//
// There are two judges. The checker knows the writes that processes report, and finds a read that is
// older than an acknowledged write from the bound before. truth knows what the server itself says that it
// did, by MONITOR, and when: the value of a read was there at some time from the bound before the read to
// its end.
//
// # Words
//
//   - record: what a process tells of one call: which, of which key, the value, from when to
//     when.
//
//   - acknowledged: said of a write that returned without an error. One that returned with
//     one may have been done, or be done later: its value may be read, and is not asked for.
//
//   - floor: the newest value that is acknowledged when a read begins, the bound earlier: it
//     must not find an older one that was acknowledged.
//
//   - loss: a moment at which the server forgets all: what was acknowledged before is not
//     found any more, the bound later.
//
//   - round: processes at work, one kind of fault among them, and then nobody at work: all
//     processes have what the server has.
//
//     go test ./stress                       bounded: about a minute
//     go test ./stress -reads 10000000       as many reads as are to be checked
package stress
