package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn/bench/gcload"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// gcTime is how long the requests last.
func (j job) gcTime() time.Duration {
	if j.Small {
		return 200 * time.Millisecond
	}
	return 5 * time.Second
}

func gcWeight(j job) float64 { return 1.2*float64(j.Entries)/1e6 + j.gcTime().Seconds() }

// gcTrace makes the runtime print a line for each collection on stderr; the
// driver keeps them.
func gcTrace(job) []string { return []string{"GODEBUG=gctrace=1"} }

// gcRivals lists the stores that hold the entries, beside firn.
func gcRivals() []string {
	return slices.DeleteFunc(gcload.Names(), func(name string) bool { return name == rivals.Firn })
}

func gcJobs(_ options, taking []string, add func(job)) error {
	for _, r := range append([]string{rivals.Firn}, taking...) {
		add(job{Kind: "gc", Rival: r})
	}
	return nil
}

// runGC measures the cost of one store through the collector.
func runGC(j job, out *emitter) error {
	r, err := gcload.Run(gcload.Options{Store: j.Rival, Entries: j.Entries, Cycles: gcRepeats, Time: j.gcTime()})
	if err != nil {
		return err
	}
	var cycles []samples.Sample
	for i, d := range r.Cycles {
		s := j.measure("cycle", milliseconds(d), "ms", nil)
		s.Repeat, s.Refused, s.Dropped = i, r.Refused, r.Missing
		cycles = append(cycles, s)
	}
	out.emit(cycles...)
	share := j.measure("gc-share", r.Share, "%", nil)
	share.Note = fmt.Sprintf("%d collections in %s", r.Collections, j.gcTime())
	out.emit(share, j.measure("pause-max", milliseconds(r.PauseMax), "ms", nil))
	var requests []samples.Sample
	hit := float64(r.Gets-r.Misses) / float64(r.Gets)
	for _, q := range percentiles {
		s := j.measure("request", float64(r.Requests.ValueAtPercentile(q.at))/1e3, "µs", &hit)
		s.Name += "/" + q.name
		s.Ops, s.Misses = r.Requests.TotalCount(), r.Misses
		requests = append(requests, s)
	}
	out.emit(requests...)
	return nil
}

// gcLines keeps the last lines of the collector's trace: the forced collections
// and those beside the requests have another heap than those of filling.
func gcLines(stderr string) string {
	const most = 24
	var lines []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "gc ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "")
}
