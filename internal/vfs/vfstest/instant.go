package vfstest

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
)

// atInstant copies memory as it is at one instant, while others store into it: a kill
// stops a process between two stores, and never leaves a later one without an earlier.
// The slices are pairs of one length, a multiple of 8.
//
// Two passes that agree are such an instant, between them: the bytes they read were there
// from the first to the second. Where others store all the time no two may agree; so
// from the second attempt on they get no processor meanwhile.
func atInstant(to, from [][]byte) {
	if copyTwice(to, from) {
		return
	}
	alone.Lock()
	defer alone.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for !copyTwice(to, from) {
	}
}

// alone is held while this process is to use one processor.
var alone sync.Mutex

// copyTwice copies, and reports whether a second copy would be the same.
func copyTwice(to, from [][]byte) bool {
	for i := range to {
		copyWords(to[i], from[i])
	}
	passes.Add(1) // the processor begins the second pass after the end of the first
	for i := range to {
		if !sameWords(to[i], from[i]) {
			return false
		}
	}
	return true
}

// copyWords races with the owner's stores on purpose: the detector is not to see it.
//
//go:norace
func copyWords(to, from []byte) {
	for len(from) >= 8 && len(to) >= 8 {
		binary.NativeEndian.PutUint64(to, binary.NativeEndian.Uint64(from))
		to, from = to[8:], from[8:]
	}
}

// sameWords races with the owner's stores on purpose, as copyWords does.
//
//go:norace
func sameWords(a, b []byte) bool {
	for len(a) >= 8 && len(b) >= 8 {
		if binary.NativeEndian.Uint64(a) != binary.NativeEndian.Uint64(b) {
			return false
		}
		a, b = a[8:], b[8:]
	}
	return true
}

// passes counts the first passes.
var passes atomic.Uint64
