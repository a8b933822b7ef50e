package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/firncache/firn/bench/cases"
	"github.com/firncache/firn/bench/samples"
)

func (j job) caseTurn() time.Duration {
	if j.Small {
		return 200 * time.Microsecond
	}
	return 20 * time.Millisecond
}

func casesWeight(j job) float64 { return 5 * float64(j.Repeats+4) * j.caseTurn().Seconds() }

func caseJobs(_ options, _ []string, add func(job)) error {
	for _, name := range cases.Names() {
		add(job{Kind: "case", Rival: name})
	}
	return nil
}

// runCase measures one study.
func runCase(j job, out *emitter) error {
	s := cases.Studies[slices.Index(cases.Names(), j.Rival)]
	var all []samples.Sample
	for _, t := range s.Run(j.Repeats, j.caseTurn()) {
		all = append(all, samples.Sample{
			Suite: j.Suite, Name: s.Name, Cache: t.Variant, Repeat: t.Round, Ops: t.Ops, Value: t.Ns, Unit: "ns/op",
			Note: fmt.Sprintf("%s; %.0f bytes in %g allocations", s.Per, t.Bytes, math.Round(100*t.Allocs)/100),
		})
	}
	out.emit(all...)
	return nil
}
