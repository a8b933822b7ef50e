//go:build !linux

package offheap

import "testing"

// shared stands for memory of other processes, where nothing is done to it in particular.
func shared(_ *testing.T, n int) []byte { return aligned(n) }
