package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// suiteNames lists the suites in the order in which "all" runs them.
var suiteNames = []string{"classic", "ram", "large", "memory"}

// matrixRivals are the rivals that play all cells; the others play four, so
// that the whole set ends in time for lunch.
var matrixRivals = []string{"fastcache", "otter", "xsync"}

// A plan is what the command line asks for.
type plan struct {
	Suites  []string
	Rivals  []string
	Entries int
	Repeats int
}

// newPlan checks the names. No rivals means all of them.
func newPlan(suite, rivalList string, entries, repeats int) (plan, error) {
	p := plan{Suites: []string{suite}, Rivals: rivals.Names(), Entries: entries, Repeats: repeats}
	if suite == "all" {
		p.Suites = suiteNames
	} else if !slices.Contains(suiteNames, suite) {
		return p, fmt.Errorf("-suite %q: expected %s or all", suite, strings.Join(suiteNames, ", "))
	}
	if rivalList != "" {
		p.Rivals = strings.Split(rivalList, ",")
	}
	for _, name := range p.Rivals {
		if _, err := rivals.Find(name); err != nil {
			return p, fmt.Errorf("-rivals: %w", err)
		}
		if name == rivals.Firn {
			return p, fmt.Errorf("-rivals: firn always takes part; expected the others, of %s", strings.Join(rivals.Names(), ", "))
		}
	}
	return p, positive(map[string]int{"n": entries, "repeats": repeats})
}

// jobs lists what one suite runs, in order.
func (p plan) jobs(suite string) []job {
	var jobs []job
	add := func(kind, rival string, entries, valueSize int) {
		full := slices.Contains(matrixRivals, rival)
		jobs = append(jobs, job{suite, kind, rival, entries, valueSize, p.Repeats, full})
	}
	everyone := append([]string{rivals.Firn}, p.Rivals...)
	switch suite {
	case "classic":
		for _, r := range p.Rivals {
			add("classic", r, p.Entries, 4)
		}
	case "ram":
		for _, r := range p.Rivals {
			add("pair", r, p.Entries, 64)
		}
	case "large":
		for _, r := range p.Rivals {
			if rival, _ := rivals.Find(r); !rival.Fixed {
				add("pair", r, max(p.Entries/10, 1), 1024)
			}
		}
		for _, r := range everyone {
			if rival, _ := rivals.Find(r); !rival.Fixed {
				add("values", r, p.Entries, 64)
			}
		}
	case "memory":
		for _, r := range everyone {
			add("memory", r, p.Entries, 64)
			add("churn", r, p.Entries, 64)
		}
	}
	return jobs
}

// weight is the time that the job is expected to take, in arbitrary units: the
// operations that it does.
func (j job) weight() float64 {
	n := float64(j.Entries)
	switch j.Kind {
	case "pair":
		w := 2 * n
		for _, c := range j.cells() {
			w += j.cellWeight(c)
		}
		return w
	case "classic":
		return float64(j.Repeats+1) * 8e6
	case "memory":
		return n + 10e6
	case "churn":
		return 4 * n
	}
	return 1e6
}

func (j job) cellWeight(c cell) float64 {
	return 3 / float64(min(c.Goroutines, 2)) * float64(j.ops(c.Goroutines)*j.Repeats)
}

// checkMemory returns an error if a job needs more memory than is free.
func checkMemory(jobs []job) error {
	free := samples.FreeMemory()
	if free == 0 {
		return nil // the system does not tell
	}
	for _, j := range jobs {
		if need := j.memoryNeeded(); need > free {
			return fmt.Errorf("suite %s, %s of %s with %d entries: %.1f GiB of memory needed, %.1f GiB free: give a smaller -n",
				j.Suite, j.Kind, j.Rival, j.Entries, float64(need)/(1<<30), float64(free)/(1<<30))
		}
	}
	return nil
}
