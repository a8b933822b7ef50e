package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/samples"
)

// A hybridCell is one mix of operations.
type hybridCell struct {
	name     string
	sets     int // of 100 operations
	inFlight []int
}

// hybridCells lists the cells at some times the memory.
func hybridCells(times int64) []hybridCell {
	if times != fullTimes {
		return []hybridCell{{"get", 0, []int{8}}, {"mix", 5, []int{8}}}
	}
	return []hybridCell{{"get", 0, hybridInFlight}, {"mix", 5, hybridInFlight}, {"set", 100, hybridInFlight}}
}

// hybridInFlight are the requests in flight that are measured.
var hybridInFlight = []int{1, 8, 64}

// hybridSlice is the length of one repeat of a cell.
func (j job) hybridSlice() time.Duration {
	if j.Small {
		return 20 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// hybridWarm is how long a store is used before it is measured, in each order.
func (j job) hybridWarm() time.Duration { return 8 * j.hybridSlice() }

func (j job) hybridRepeats() int { return min(j.Repeats, 3) }

func hybridRunWeight(j job) float64 {
	times, _, err := j.hybridParam()
	if err != nil {
		return 1
	}
	cells := 0
	for _, c := range hybridCells(times) {
		cells += 2 * len(c.inFlight)
	}
	return float64(cells*(j.hybridRepeats()+1))/1.5*j.hybridSlice().Seconds() + 2*j.hybridWarm().Seconds()
}

// runHybridRun measures a filled store under a limit of memory. Param's number
// is how many times the memory the data is.
func runHybridRun(j job, out *emitter) error {
	times, root, err := j.hybridParam()
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, j.Rival+"-data")
	if _, err := os.Stat(loadedMark(dir)); err != nil {
		return fmt.Errorf("the store was not loaded: %w", err)
	}
	if err := hybrid.DropCache(dir); err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: storeMemory(hybridMemory(j)), DataBytes: j.hybridData(), Readers: 64})
	if err != nil {
		return err
	}
	for _, order := range []keys.Order{keys.Zipf, keys.Uniform} {
		warm := hybrid.Work{Order: order, InFlight: 8, Entries: j.Entries, ValueSize: j.ValueSize, Time: j.hybridWarm()}
		switch r, err := hybrid.Run(s, warm, 1, false); {
		case err != nil:
			return err
		case r.Misses > r.Gets/2: // its times would say nothing
			return fmt.Errorf("%d of %d Gets of what was loaded found nothing", r.Misses, r.Gets)
		}
		for _, c := range hybridCells(times) {
			for _, inFlight := range c.inFlight {
				cell := fmt.Sprintf("%s/%s/times=%d", c.name, order, times)
				group, err := j.hybridCell(s, cell, hybrid.Work{
					Order: order, Sets: c.sets, InFlight: inFlight, Entries: j.Entries, ValueSize: j.ValueSize, Time: j.hybridSlice(),
				})
				if err != nil {
					return fmt.Errorf("%s: %w", cell, err)
				}
				out.emit(group...)
			}
		}
	}
	return s.Close()
}

// hybridCell repeats one cell; the device's work is summed up over the
// repeats, and over a second for the rest of it.
func (j job) hybridCell(s hybrid.Store, cell string, w hybrid.Work) ([]samples.Sample, error) {
	var out []samples.Sample
	var all hybrid.Result
	before := hybrid.ReadIO()
	for repeat := range j.hybridRepeats() {
		r, err := hybrid.Run(s, w, uint64(2+repeat)*1000, w.Sets > 0 && repeat == j.hybridRepeats()-1)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s/n=%d/value=%d/inflight=%d", cell, j.Entries, w.ValueSize, w.InFlight)
		sample := j.hybridSample(name, "ns/op", repeat, r.Ops, float64(r.Elapsed.Nanoseconds())/float64(r.Ops))
		if sample.Misses = r.Misses; r.Gets > 0 {
			hit := float64(r.Gets-r.Misses) / float64(r.Gets)
			sample.Hit = &hit
		}
		out = append(out, sample)
		all.Ops, all.Sets = all.Ops+r.Ops, all.Sets+r.Sets
	}
	if w.Sets > 0 {
		time.Sleep(j.hybridSlice())
	}
	after := hybrid.ReadIO()
	switch {
	case !after.Known:
	case w.Sets == 100:
		user := float64(all.Sets) * float64(hybrid.KeySize+j.ValueSize)
		out = append(out, j.hybridSample("written/"+cell, "bytes/byte", 0, all.Sets, float64(after.Written-before.Written)/user))
	case w.Sets == 0 && w.InFlight == 8:
		out = append(out, j.hybridSample("read/"+cell, "bytes/op", 0, all.Ops, float64(after.Read-before.Read)/float64(all.Ops)))
	}
	return out, nil
}
