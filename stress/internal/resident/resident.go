// Package resident measures the memory of this process.
package resident

// Memory is what a process takes, in bytes.
type Memory struct {
	Now     int64 // resident
	Peak    int64 // the most that was resident
	Address int64 // address space
}
