//go:build !race

package invariants

// Race says that the race detector is off.
const Race = false
