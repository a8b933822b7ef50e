// Package cases measures costs that articles about Go performance argue about,
// on the Go that builds it. docs/internals/DECISIONS.md says what follows from them.
package cases

import (
	"runtime"
	"time"
)

// A Study compares ways to do one thing.
type Study struct {
	Name     string // as in results
	Claim    string // the claim that it tests
	Per      string // the unit of one operation
	Variants []Variant
}

// A Variant is one of the ways.
type Variant struct {
	Name string
	make func() func(n int) // prepares, and returns a function that does n operations
}

// A Turn is the result of one variant in one turn.
type Turn struct {
	Study, Variant string
	Round          int
	Ops            int64
	Ns             float64 // per operation
	Bytes, Allocs  float64 // allocated per operation
}

// Names lists the studies.
func Names() []string {
	var names []string
	for _, s := range Studies {
		names = append(names, s.Name)
	}
	return names
}

// Run lets the variants of a study take turns of about the given length. The
// first turn of each warms up and does not count.
func (s Study) Run(rounds int, length time.Duration) (turns []Turn) {
	loops := make([]func(int), len(s.Variants))
	counts := make([]int, len(s.Variants))
	for i, v := range s.Variants {
		loops[i], counts[i] = v.make(), 1
		for {
			began := time.Now()
			loops[i](counts[i])
			if time.Since(began) >= length {
				break
			}
			counts[i] *= 2
		}
	}
	for round := range rounds {
		for i, v := range s.Variants {
			turns = append(turns, measure(loops[i], counts[i], Turn{Study: s.Name, Variant: v.Name, Round: round}))
		}
	}
	return turns
}

// measure does one turn. The collection before it is not part of it.
func measure(loop func(int), n int, t Turn) Turn {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	loop(n)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	t.Ops = int64(n)
	t.Ns = float64(took.Nanoseconds()) / float64(n)
	t.Bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	t.Allocs = float64(after.Mallocs-before.Mallocs) / float64(n)
	return t
}
