package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firncache/firn/bench/cases"
	"github.com/firncache/firn/bench/gcload"
	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// A job is the work of one child process. A process of its own gives each
// pair of caches a fresh heap, and its memory back at the end.
type job struct {
	Suite     string
	Kind      string // a key of kinds
	Rival     string // the cache, policy or store to measure; for some kinds there is none
	Entries   int
	ValueSize int    // bytes
	Repeats   int    // turns of each cache in each cell
	Cells     string // pair: which cells of the matrix; see cells
	Param     string // a parameter of the kind, such as a trace
	Small     bool   // a run to see that everything works: it takes the least time that still measures something
}

// A kind is a sort of job. Functions that are nil have nothing to say.
type kind struct {
	run    func(job, *emitter) error
	rivals func() []string   // the names that Rival may have; nil: those of package rivals
	weight func(job) float64 // the seconds it is expected to take
	memory func(job) int64   // the bytes it is expected to occupy at most; nil: 256 MiB
	env    func(job) []string
	cutOff bool                // it ends at mostTime, with a note in place of the missing part
	limit  func(job) int64     // the bytes of memory that the process is limited to; nil: not limited
	log    string              // the log's name, if the child's output on stderr belongs to the results
	keep   func(string) string // the part of it to keep
}

var kinds = map[string]kind{
	"pair":           {run: runPair, weight: pairWeight, memory: pairMemory},
	"classic":        {run: runClassic, weight: classicWeight, env: fourProcessors},
	"big":            {run: runBig, weight: bigWeight, memory: func(j job) int64 { return 4 * j.bigBudget() }},
	"memory":         {run: runMemory, weight: memoryWeight, memory: heapMemory},
	"churn":          {run: runChurn, weight: func(j job) float64 { return float64(j.Entries) / 3e6 }, memory: heapMemory},
	"gc":             {run: runGC, rivals: gcload.Names, weight: gcWeight, memory: heapMemory, env: gcTrace, log: "gctrace of", keep: gcLines},
	"hitratio":       {run: runHitRatio, rivals: hitratio.Names, weight: hitWeight, memory: func(job) int64 { return 2 << 30 }},
	"curve":          {run: runCurve, weight: curveWeight, memory: curveMemory},
	"bufpool":        {run: runStreams, rivals: all("pools"), weight: streamsWeight},
	"case":           {run: runCase, rivals: cases.Names, weight: casesWeight},
	"hybrid-load":    {run: runHybridLoad, rivals: hybrid.Names, cutOff: true, weight: hybridLoadWeight, memory: func(j job) int64 { return 2*loadMemory(j.hybridData()) + 1<<28 }},
	"hybrid-run":     {run: runHybridRun, rivals: hybrid.Names, cutOff: true, weight: hybridRunWeight, limit: hybridMemory, memory: hybridMemory},
	"hybrid-faster":  {run: runHybridFaster, rivals: hybrid.Names, cutOff: true, weight: func(j job) float64 { return 0.3 * float64(j.Repeats) }},
	"hybrid-restart": {run: runHybridRestart, rivals: hybrid.Names, cutOff: true, weight: hybridRestartWeight, memory: func(job) int64 { return 3 << 30 }},
	"hybrid-device":  {run: runHybridDevice, rivals: all(hybrid.Device), cutOff: true, weight: hybridDeviceWeight},
	"hybrid-writer":  {run: runHybridWriter, rivals: hybrid.Names, weight: hybridRestartWeight},
	"shared":         {run: runShared, weight: sharedWeight, memory: func(job) int64 { return 2 << 30 }},
	"users":          {run: runUsers, weight: usersWeight, memory: usersMemory},
	"users-store":    {run: runUsersStore, weight: func(job) float64 { return 1 }},
	"values":         {run: runValues, weight: func(job) float64 { return 0.2 }},
}

func (j job) weight() float64 { return max(kinds[j.Kind].weight(j), 0.1) }

// mostTime is when a job is cut off: one that takes so much longer than expected
// must not keep the others waiting. Its samples until then count.
func (j job) mostTime() time.Duration {
	return time.Minute + time.Duration(3*j.weight()*float64(time.Second))
}

func (j job) memoryNeeded() int64 {
	if m := kinds[j.Kind].memory; m != nil {
		return m(j)
	}
	return 256 << 20
}

// args is the job as command-line arguments, the inverse of parseJob.
func (j job) args() []string {
	return []string{
		j.Kind, "-suite", j.Suite, "-rival", j.Rival, "-n", strconv.Itoa(j.Entries), "-value-size", strconv.Itoa(j.ValueSize),
		"-repeats", strconv.Itoa(j.Repeats), "-cells", j.Cells, "-param", j.Param, "-small=" + strconv.FormatBool(j.Small),
	}
}

func parseJob(kindName string, args []string, usage io.Writer) (job, error) {
	j := job{Kind: kindName}
	f := flag.NewFlagSet("bench "+kindName, flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&j.Suite, "suite", "ram", "suite `name` to print with each result")
	f.StringVar(&j.Rival, "rival", "fastcache", "`name` of the cache to measure")
	f.IntVar(&j.Entries, "n", 10_000_000, "number of entries")
	f.IntVar(&j.ValueSize, "value-size", 64, "bytes of a value")
	f.IntVar(&j.Repeats, "repeats", 8, "turns of each cache in each cell")
	f.StringVar(&j.Cells, "cells", allCells, "`which` cells of the matrix: "+strings.Join(cellSets, ", "))
	f.StringVar(&j.Param, "param", "", "what else the kind wants to `know`")
	f.BoolVar(&j.Small, "small", false, "take as little time as possible")
	if err := f.Parse(args); err != nil {
		return j, err
	}
	if err := checkRival(kindName, j.Rival); err != nil {
		return j, err
	}
	if !slices.Contains(cellSets, j.Cells) {
		return j, fmt.Errorf("-cells %q: expected one of %s", j.Cells, strings.Join(cellSets, ", "))
	}
	return j, positive(map[string]int{"n": j.Entries, "value-size": j.ValueSize, "repeats": j.Repeats})
}

// checkRival returns an error that lists the names unless name is one that the
// kind knows.
func checkRival(kindName, name string) error {
	names := kinds[kindName].rivals
	if names == nil {
		_, err := rivals.Find(name)
		return err
	}
	if known := names(); !slices.Contains(known, name) {
		return fmt.Errorf("rival %q: expected one of %s", name, strings.Join(known, ", "))
	}
	return nil
}

func positive(flags map[string]int) error {
	for name, value := range flags {
		if value < 1 {
			return fmt.Errorf("-%s %d: expected at least 1", name, value)
		}
	}
	return nil
}

// config is the size of the cache for the job.
func (j job) config() rivals.Config { return rivals.Roomy(j.Entries, keys.Size, j.ValueSize) }

// entryBytes is the memory that one entry is expected to need: its key, its
// value and bookkeeping.
func (j job) entryBytes() int64 { return int64(keys.Size + j.ValueSize + rivals.EntryOverhead) }

// heapMemory is the memory of the hungriest cache on the Go heap, twice: the
// collector lets the heap double.
func heapMemory(j job) int64 { return 2 * int64(j.Entries) * (j.entryBytes() + onHeap) }

// onHeap is the bytes of bookkeeping per entry of a hungry cache on the heap.
const onHeap = 200
