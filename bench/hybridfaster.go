package main

import (
	"fmt"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/samples"
)

// runHybridFaster repeats FasterKvCache's table.
func runHybridFaster(j job, out *emitter) error {
	dir, err := freshStore(j, "faster")
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: hybrid.FasterMemory, DataBytes: hybrid.FasterKeys * hybrid.FasterValueSize, Readers: 8})
	if err != nil {
		return err
	}
	if err := s.Load(hybrid.FasterKeys, hybrid.Pair(hybrid.FasterValueSize)); err != nil {
		return err
	}
	for _, op := range hybrid.FasterOps {
		for _, goroutines := range hybrid.FasterGoroutines {
			var group []samples.Sample
			for repeat := range j.Repeats {
				took, misses, err := hybrid.Faster(s, op.Sets, goroutines, uint64(repeat)*100)
				if err != nil {
					return err
				}
				sample := j.hybridSample(fmt.Sprintf("faster/%s/goroutines=%d", op.Name, goroutines), "µs/1000ops", repeat, int64(goroutines)*1000, float64(took.Nanoseconds())/1e3)
				sample.Misses = misses
				group = append(group, sample)
			}
			out.emit(group...)
		}
	}
	return s.Close()
}
