// Package replay runs the requests of a workload through a cache and measures
// what comes back: a read, and on a miss a write of the value, as a program
// with a cache in front of something slow would do.
//
// The same loop serves every cache, behind [Store]: cmd/firn runs firn through
// it, and the bench module runs its rivals, one process each.
//
// # How it measures
//
//   - Requests are read ahead into a window of 256 Ki requests (6 MiB) while the
//     clock is stopped, then replayed; the window is filled again until the
//     source ends. So neither decoding nor generating is part of the figures.
//   - Goroutines take chunks of 64 requests off the window in order. One
//     goroutine replays them in exactly the order of the source.
//   - A latency is that of a whole request: the read and, after a miss, the
//     write. One request in 16 on average is timed, at random distances, because
//     reading the clock twice costs as much as a hit.
//   - Values carry a stamp of their key and length at both ends, checked on
//     every hit. A wrong value fails the run.
//   - The budget counts what the cache is told; resident memory is what the
//     system says of the process: before the cache was opened, and after the
//     last request, each time with garbage collected and given back. Their
//     difference is the cache's, to a few MiB: the first figure holds a reader
//     of the trace that is gone in the second. The peak counts that reader and
//     all garbage; a zstd decoder alone may take twice its window.
//   - Times and TTLs are real: the replay runs at full speed, whatever the times
//     in a trace, and a value with a TTL expires by the wall clock.
package replay
