// Package cachetest holds what the tests of a cache share: values that describe
// themselves, a clock that stands still, and a model of what a cache may answer.
//
// # The oracle
//
// A read returns the value of the last Set that was acknowledged, or, if that
// entry has left, nothing. Never an older value, another key's, or a torn one.
// An entry leaves only with an eviction event, so where events are on the model
// is exact: a miss without an event is an error too.
//
// [Machine] holds a cache against that oracle one call at a time, [Register]
// with many goroutines at once.
package cachetest
