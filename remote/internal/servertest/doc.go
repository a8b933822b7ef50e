// Package servertest starts real Redis and Valkey servers for tests: one server, one with
// replicas, or a cluster whose nodes can be stopped, cut off and given other slots. A server
// lives in a directory of its test, listens on the loopback alone, and ends with the test: by
// its Cleanup, and on Linux also when the test's process dies.
//
// Which servers: those that FIRN_TEST_SERVERS names, a list of paths as PATH is one; without
// it redis-server or else valkey-server, as found in PATH. Without any, tests are skipped, or
// fail if FIRN_REQUIRE_SERVER is 1.
//
// # Words
//
//   - freeze: stop a process (SIGSTOP), whose connections stay; thaw: let it go on.
//   - cut: take a cluster's node off the bus by which nodes speak to each other. Clients still
//     reach it.
package servertest
