// Package workload produces requests for a cache: generated ones, and those of
// recorded traces in the formats people have.
//
// Terms:
//
//   - request: one access to one key; see [Request].
//   - source: a sequence of requests that is read once, in order; see [Source].
//   - trace: a file that holds a recorded sequence of requests, plain or
//     compressed with gzip or zstd.
//   - working set: the keys and values of all distinct keys of a source.
//
// # Trace formats
//
//	trc            16-byte little-endian records: u64 key, u32 size, u32 time
//	oraclegeneral  24-byte little-endian records of libCacheSim: u32 time,
//	               u64 key, u32 size, i64 next access (ignored)
//	arc            lines "start count ignored request-number" of the ARC traces;
//	               each line stands for count requests, one per block
//	lirs           one block number a line; "*" and empty lines separate phases
//	twitter        CSV of Twitter's cache clusters: timestamp, key, key size,
//	               value size, client, operation, TTL
//	csv            any other delimited text; csv:COLUMN,... names its columns
//
// A size of 0 means unknown, a TTL of 0 means none. Times are seconds; text
// formats count them from their first request.
//
// Memory is bounded whatever a file contains: records and lines are decoded
// through fixed buffers, a line may have at most 64 KiB, and a zstd window at
// most 128 MiB. What is wrong in a trace is reported as a [TraceError].
package workload
