// Package lincheck checks that histories of concurrent calls to one cache are
// linearizable, key by key, with porcupine. It holds only tests:
//
//	cd stress && go test ./lincheck
package lincheck
