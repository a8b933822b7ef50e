// Package bounds has the flags that all tests of the module take: how much they
// do, and from which seed.
package bounds

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	long = flag.Bool("long", false, "do what takes minutes")
	seed = flag.Uint64("seed", 1, "of the random numbers; 0: one of the clock")
)

// Long reports whether the tests may take minutes.
func Long() bool { return *long }

// Of is bounded, or many with -long.
func Of[T any](bounded, many T) T {
	if *long {
		return many
	}
	return bounded
}

// Random are the random numbers of a test, which tells their seed.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 38))
}
