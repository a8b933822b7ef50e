// Package examples is a module of programs that use firn, one a directory. Its
// tests run each of them.
//
//   - constructors: two named caches from a file, handed to what needs them.
//   - fxcaches: the same through go.uber.org/fx.
//   - slowquery: an HTTP handler that caches a slow query of a SQLite file.
//   - server: pages of an origin, in RAM and on SSD, with an orderly end and a warm start.
//   - fleet: three processes over one server of Redis or Valkey, and a network that is cut.
//   - thumbnails: images of mixed sizes; over HTTP, with the live page of the cache.
//   - fanout: many values at once, each loaded at most once.
//   - protobuf: a typed cache of messages of Protocol Buffers.
//   - migration: each call of other caches beside firn's; docs/MIGRATION.md
//     quotes it.
package examples
