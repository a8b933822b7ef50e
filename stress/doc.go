// Package stress is a module of tests that take seconds, processes that are
// killed, file systems of their own or a measured memory; the root module's own
// tests are quick. It is a module of its own, so that the cache does not require
// the checkers.
//
//	cd stress && go test ./...          bounded: about a minute
//	cd stress && go test ./... -long    minutes
//
// The packages:
//
//   - disk: reads of a real disk that are given up at any moment
//   - kill: processes that are killed, and file systems that are full, gone or
//     read-only
//   - lincheck: histories of concurrent calls are linearizable
//   - memory: resident memory
//   - mutations: guards are taken out of the product, and their tests fail
//   - validation: the stress test of internal/tests/bytes notices a build whose
//     readers do not validate the bytes they copied
package stress
