//go:build race

package invariants

// Race says that the race detector is on: bytes move by atomic words, and calls
// that allocate nothing otherwise may.
const Race = true
