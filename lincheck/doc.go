// Package lincheck checks that histories of concurrent calls to one cache are
// linearizable, key by key, with porcupine. It is a module of its own, so that
// the cache does not require the checker; it holds only tests:
//
//	cd lincheck && go test ./...
package lincheck
