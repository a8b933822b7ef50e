package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// gcRepeats is the number of forced collections that are timed.
const gcRepeats = 3

// allocTime is how long the allocating load beside a filled cache lasts.
func (j job) allocTime() time.Duration {
	if j.Small {
		return 200 * time.Millisecond
	}
	return 4 * time.Second
}

func memoryWeight(j job) float64 { return 1.2*float64(j.Entries)/1e6 + j.allocTime().Seconds() }

// runMemory fills a cache in a process of its own and measures its costs to
// the program: resident memory, and the collector's time.
func runMemory(j job, out *emitter) error {
	r, err := rivals.Find(j.Rival)
	if err != nil {
		return err
	}
	emptyGC := samples.SpreadOf(forcedGCs(9)).Median
	debug.FreeOSMemory()
	before := samples.RSS()
	c, err := r.Open(j.config())
	if err != nil {
		return fmt.Errorf("open %s: %w", j.Rival, err)
	}
	p := player{name: j.Rival, cache: c}
	load(j, p, makeValue(j.ValueSize))
	debug.FreeOSMemory()
	after := samples.RSS()
	hit := kept(j, p, makeValue(j.ValueSize)).Value / 100

	overhead := float64(after-before)/float64(j.Entries) - float64(keys.Size+j.ValueSize)
	out.emit(j.measure("overhead", overhead, "B/entry", &hit))
	var forced []samples.Sample
	for i, ms := range forcedGCs(gcRepeats) {
		s := j.measure("forced-gc", ms-emptyGC, "ms", nil)
		s.Repeat = i
		forced = append(forced, s)
	}
	out.emit(forced...)
	share, rate := allocate(j.allocTime())
	out.emit(j.measure("gc-share", share, "%", nil), j.measure("alloc-rate", rate, "MB/s", nil))
	runtime.KeepAlive(c)
	return nil
}

// measure is a value that a job measured on its rival alone.
func (j job) measure(name string, value float64, unit string, hit *float64) samples.Sample {
	return samples.Sample{
		Suite: j.Suite, Name: fmt.Sprintf("%s/n=%d/value=%d", name, j.Entries, j.ValueSize), Cache: j.Rival,
		Ops: 1, Value: value, Unit: unit, Hit: hit,
	}
}

// forcedGCs times count full collections, in milliseconds.
func forcedGCs(count int) []float64 {
	ms := make([]float64, count)
	runtime.GC()
	for i := range ms {
		began := time.Now()
		runtime.GC()
		ms[i] = float64(time.Since(began).Nanoseconds()) / 1e6
	}
	return ms
}

// allocate makes garbage for the given time, as fast as one goroutine can, in
// blocks of 1 KiB of which the last 64 MiB stay alive. It returns the share of
// all processors' time that the collector took, in percent, and the garbage
// made, in MB/s.
func allocate(d time.Duration) (gcShare, rate float64) {
	const block, alive = 1 << 10, 64 << 20
	ring := make([][]byte, alive/block)
	cpu, bytes, began := gcSeconds(), allocated(), time.Now()
	for i := 0; time.Since(began) < d; i++ {
		for k := range 64 {
			ring[(i*64+k)%len(ring)] = make([]byte, block)
		}
	}
	elapsed := time.Since(began).Seconds()
	runtime.KeepAlive(ring)
	gcShare = 100 * (gcSeconds() - cpu) / (elapsed * float64(runtime.GOMAXPROCS(0)))
	return gcShare, float64(allocated()-bytes) / 1e6 / elapsed
}

// gcSeconds returns the processor time that the collector has taken so far.
func gcSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}
