package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/turn"
)

// without is a firn that does not simulate itself, beside firn, which does.
const without = rivals.Firn + "-without"

// curveEntries is how many entries the caches have.
const curveEntries = 1_000_000

// curveCostJobs is a job for the calls, and one for each other cost.
func curveCostJobs(o options, _ []string, add func(job)) error {
	n := min(o.Entries, curveEntries)
	for _, kind := range []string{"curve-calls", "curve-share", "curve-live"} {
		add(job{Kind: kind, Rival: rivals.Firn, Entries: n})
	}
	return nil
}

// curveCells are the calls to measure.
func curveCells() (cells []cell) {
	for _, c := range []cell{{Op: turn.Get, Order: keys.Zipf}, {Op: turn.Get, Order: keys.Absent}, {Op: turn.GetBatch, Order: keys.Zipf}, {Op: turn.Set, Order: keys.Zipf}} {
		for _, c.Goroutines = range []int{1, 2, 64} {
			cells = append(cells, c)
		}
	}
	return cells
}

func curveCallsWeight(j job) float64 {
	ops := 0
	for _, c := range curveCells() {
		ops += j.ops(c.Goroutines)
	}
	return 2 * 60e-9 * float64(ops*(j.Repeats+1))
}

// runCurveCalls lets a cache without the simulation and one with it take turns.
func runCurveCalls(j job, out *emitter) error {
	value := makeValue(j.ValueSize)
	var players []player
	for _, p := range []struct {
		name, against string
		whatIf        firn.WhatIf
	}{{rivals.Firn, without, firn.WhatIfOn}, {without, rivals.Firn, firn.WhatIfOff}} {
		c, err := rivals.FirnOf(firn.Open(firn.Options{RAMBytes: j.config().Bytes, WhatIf: p.whatIf}))
		if err != nil {
			return err
		}
		defer c.Close()
		players = append(players, player{p.name, p.against, c})
		out.emit(load(j, players[len(players)-1], value))
	}
	gc := newCollector()
	for _, c := range curveCells() {
		stream, err := keys.New(c.Order, j.Entries, j.streamLen(), 1)
		if err != nil {
			return err
		}
		out.emit(playCell(j, c, players, gc, stream, value)...)
	}
	return nil
}

// shareTime is how long the load lasts, for each repeat, of which the simulation's share is measured.
func (j job) shareTime() time.Duration {
	if j.Small {
		return 100 * time.Millisecond
	}
	return time.Second
}

func curveShareWeight(j job) float64 { return 2 + float64(j.Repeats)*j.shareTime().Seconds() }

// runCurveShare measures what the simulation takes of a cache that is half as large as what is
// read, at full load: of the processor's time by its profile.
func runCurveShare(j job, out *emitter) error {
	c, err := firn.Open(firn.Options{RAMBytes: j.config().Bytes / 4})
	if err != nil {
		return err
	}
	defer c.Close()
	off, err := firn.Open(firn.Options{RAMBytes: j.config().Bytes / 4, WhatIf: firn.WhatIfOff})
	if err != nil {
		return err
	}
	defer off.Close()
	stream, err := keys.New(keys.Uniform, j.Entries, j.streamLen(), 1)
	if err != nil {
		return err
	}
	out.emit(j.measure("memory", float64(c.Stats().RAM.OverheadBytes-off.Stats().RAM.OverheadBytes)/1024, "KiB", nil))
	lasting := time.Duration(j.Repeats) * j.shareTime() // one profile: it has but a hundred samples a second
	share, err := profiled("internal/policy/whatif", func() { readThrough(c, stream, makeValue(j.ValueSize), lasting) })
	if err != nil {
		return err
	}
	out.emit(j.measure("share/load", share, "%", nil))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := j.ops(1)
	buf := make([]byte, 0, j.ValueSize)
	for part := stream.Slice(0, n); len(part) > 0; part = part[keys.Size:] {
		buf, _ = c.Get(buf[:0], part[:keys.Size])
	}
	runtime.ReadMemStats(&after)
	out.emit(j.measure("allocations", 1000*float64(after.Mallocs-before.Mallocs)/float64(n), "allocs", nil))
	return nil
}

// readAtOnce is how many keys are read between two looks at the clock.
const readAtOnce = 1 << 12

// readThrough reads with two goroutines, and stores what is absent.
func readThrough(c *firn.Cache, stream keys.Stream, value []byte, lasting time.Duration) {
	done := make(chan struct{})
	for g := range 2 {
		go func() {
			defer func() { done <- struct{}{} }()
			buf := make([]byte, 0, len(value))
			ok := false
			at := g * stream.Len() / 2
			for began := time.Now(); time.Since(began) < lasting; at += readAtOnce {
				for part := stream.Slice(at, readAtOnce); len(part) > 0; part = part[keys.Size:] {
					key := part[:keys.Size:keys.Size]
					if buf, ok = c.Get(buf[:0], key); !ok {
						_ = c.Set(key, value)
					}
				}
			}
		}()
	}
	<-done
	<-done
}

var ofProfile = regexp.MustCompile(`Duration: ([0-9.]+)(ms|s)?,(?s:.*)Showing nodes accounting for ([0-9.]+)(ms|s)?`)

// profiled is the share of one processor's time, in percent, that functions of a package take, and
// what they call.
func profiled(focus string, f func()) (share float64, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		return 0, err
	}
	f()
	pprof.StopCPUProfile()
	file := filepath.Join(dir, "cpu.pprof")
	if err := os.WriteFile(file, profile.Bytes(), 0o600); err != nil {
		return 0, err
	}
	text, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount", "1", "-focus", focus, file).CombinedOutput()
	m := ofProfile.FindSubmatch(text)
	if err != nil || m == nil {
		return 0, fmt.Errorf("go tool pprof: %v: %s: expected a duration and what the nodes account for", err, text)
	}
	lasted, took := seconds(m[1], m[2]), seconds(m[3], m[4])
	return 100 * took / lasted, nil
}

func seconds(number, unit []byte) float64 {
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		panic(err) // the expression matches digits only
	}
	if string(unit) == "ms" {
		v /= 1000
	}
	return v
}
