// Package cachetest holds the shared parts of a cache's tests: values that describe
// themselves, a clock that stands still, and a model of a cache's possible answers.
//
// # The oracle
//
// A read returns the value of the last Set that was acknowledged, or, if that
// entry has left, nothing. Never an older value, another key's, or a torn one.
// An entry leaves only with an eviction event, so where events are on the model
// is exact: a miss without an event is an error too.
//
// [Machine] holds a cache against that oracle one call at a time, [Register]
// with many goroutines at once, [Chain] with many that change one key by what it holds.
package cachetest
