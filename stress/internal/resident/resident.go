// Package resident measures the memory of this process.
package resident

// Memory is the memory of a process, in bytes.
type Memory struct {
	Now     int64 // resident
	Peak    int64 // the most that was resident
	Address int64 // address space
}
