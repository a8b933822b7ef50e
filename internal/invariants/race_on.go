//go:build race

package invariants

// Race says that the race detector is on: memory moves byte by byte, and calls
// that allocate nothing otherwise may.
const Race = true
