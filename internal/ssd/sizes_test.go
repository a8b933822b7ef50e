package ssd

import (
	"flag"
	"testing"
	"time"
)

var (
	long = flag.Bool("long", false, "every boundary, every fault, many lives: minutes instead of seconds")
	seed = flag.Uint64("seed", 1, "of the tests that are random; 0: another one each time, which a failure prints")
)

// sized is how much of something a test does: usual, or with -long all of it.
func sized(usual, all int) int {
	if *long {
		return all
	}
	return usual
}

// Times, in milliseconds.
const (
	hourMs = 60 * 60 * 1000
	dayMs  = 24 * hourMs
)

// randomSeed is the seed of a test that finds other things with another one.
func randomSeed(t testing.TB) uint64 {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return s
}
