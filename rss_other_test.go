//go:build !linux

package firn_test

import "testing"

// measuresMemory says that this system is not measured: the tests of budgets
// run their load and say so.
const measuresMemory = false

func residentNow() (int64, error) { return 0, nil }

func resident(testing.TB) int64     { return 0 }
func residentPeak(testing.TB) int64 { return 0 }
func addressSpace(testing.TB) int64 { return 0 }
