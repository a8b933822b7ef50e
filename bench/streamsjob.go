package main

import (
	"fmt"
	"time"

	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/streams"
)

func streamsOptions(j job) streams.Options {
	if j.Small {
		return streams.Options{Rounds: j.Repeats, Turn: 10 * time.Microsecond, Warm: 4}
	}
	return streams.Options{Rounds: j.Repeats, Turn: 3 * time.Millisecond, Warm: 1024}
}

// streamsWeight is in seconds: six pools in each cell, a warm-up as long as
// some of their turns.
func streamsWeight(j job) float64 {
	return float64(streams.Cells()) * (0.1 + 6*float64(j.Repeats+8)*streamsOptions(j).Turn.Seconds())
}

func streamsJobs(_ options, _ []string, add func(job)) error {
	for _, source := range streams.Sources() {
		add(job{Kind: "bufpool", Rival: "pools", Param: source})
	}
	return nil
}

// runStreams measures the pools on one source of streams.
func runStreams(j job, out *emitter) error {
	return streams.Run(j.Param, streamsOptions(j), func(turns []streams.Turn) {
		var all []samples.Sample
		for _, t := range turns {
			s := samples.Sample{Suite: j.Suite, Name: "readall/" + t.Cell, Cache: t.Pool, Repeat: t.Round, Ops: t.Streams, Value: t.Ns, Unit: "ns/op"}
			if t.Allocs > 0 {
				s.Note = fmt.Sprintf("%d allocations, %d bytes a stream", t.Allocs, t.Bytes)
			}
			all = append(all, s)
		}
		out.emit(all...)
	})
}

// all is the rivals' function of suites that do not choose between them.
func all(name string) func() []string { return func() []string { return []string{name} } }
