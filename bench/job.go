package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/turn"
)

// A job is what one child process measures. A process of its own gives each
// pair of caches a fresh heap, and its memory back at the end.
type job struct {
	Suite     string
	Kind      string // pair, classic, memory, churn or values
	Rival     string
	Entries   int
	ValueSize int  // bytes
	Repeats   int  // turns of each cache in each cell
	Full      bool // pair: all cells of the matrix; otherwise four of them
}

// kinds maps the name of a kind to what it runs.
var kinds = map[string]func(job, *emitter) error{
	"pair": runPair, "classic": runClassic, "memory": runMemory, "churn": runChurn, "values": runValues,
}

// args is the job as command-line arguments, the inverse of parseJob.
func (j job) args() []string {
	return []string{
		j.Kind, "-suite", j.Suite, "-rival", j.Rival, "-n", strconv.Itoa(j.Entries), "-value-size", strconv.Itoa(j.ValueSize),
		"-repeats", strconv.Itoa(j.Repeats), "-full=" + strconv.FormatBool(j.Full),
	}
}

func parseJob(kind string, args []string, usage io.Writer) (job, error) {
	j := job{Kind: kind}
	f := flag.NewFlagSet("bench "+kind, flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&j.Suite, "suite", "ram", "suite `name` to print with each result")
	f.StringVar(&j.Rival, "rival", "fastcache", "`name` of the cache to measure")
	f.IntVar(&j.Entries, "n", 10_000_000, "number of entries")
	f.IntVar(&j.ValueSize, "value-size", 64, "bytes of a value")
	f.IntVar(&j.Repeats, "repeats", 8, "turns of each cache in each cell")
	f.BoolVar(&j.Full, "full", true, "all cells of the matrix")
	if err := f.Parse(args); err != nil {
		return j, err
	}
	if _, err := rivals.Find(j.Rival); err != nil {
		return j, err
	}
	return j, positive(map[string]int{"n": j.Entries, "value-size": j.ValueSize, "repeats": j.Repeats})
}

// small says that the run is there to see that everything works: it takes the
// least time that still measures something.
func (j job) small() bool { return j.Entries < 1_000_000 }

func positive(flags map[string]int) error {
	for name, value := range flags {
		if value < 1 {
			return fmt.Errorf("-%s %d: expected at least 1", name, value)
		}
	}
	return nil
}

// config is the size of the cache for the job: a budget half above what
// firn's entries need, so that every cache can hold all entries.
func (j job) config() rivals.Config {
	return rivals.Config{
		Entries: j.Entries, KeySize: keys.Size, ValueSize: j.ValueSize,
		Bytes: j.entryBytes()*int64(j.Entries)*3/2 + 64<<20,
	}
}

// entryBytes is the memory that one entry is expected to need: its key, its
// value and 24 bytes of bookkeeping.
func (j job) entryBytes() int64 { return int64(keys.Size + j.ValueSize + 24) }

// memoryNeeded is the most that the job's process is expected to occupy, in
// bytes.
func (j job) memoryNeeded() int64 {
	const onHeap = 200 // bytes of bookkeeping per entry in the hungriest cache
	entry := j.entryBytes() + onHeap
	switch j.Kind {
	case "pair":
		return j.config().Bytes + 2*int64(j.Entries)*entry + 3*int64(j.streamLen())*keys.Size
	case "memory", "churn":
		return 2 * int64(j.Entries) * entry
	}
	return 256 << 20
}

// A cell is one benchmark of the matrix.
type cell struct {
	Op         turn.Op
	Order      keys.Order
	Goroutines int
}

// name is the cell as it stands in results.
func (j job) cellName(c cell) string {
	return fmt.Sprintf("%s/%s/n=%d/value=%d/goroutines=%d", c.Op, c.Order, j.Entries, j.ValueSize, c.Goroutines)
}

// cells lists what the job measures: reads first, since writes can push
// entries out of caches that append every version.
func (j job) cells() []cell {
	if !j.Full {
		return []cell{
			{turn.Get, keys.Zipf, 2}, {turn.Get, keys.Absent, 2}, {turn.Mix, keys.Zipf, 2}, {turn.Set, keys.Zipf, 2},
		}
	}
	var cells []cell
	add := func(op turn.Op, goroutines []int, orders ...keys.Order) {
		for _, o := range orders {
			for _, g := range goroutines {
				cells = append(cells, cell{op, o, g})
			}
		}
	}
	few, all := []int{1, 2}, []int{1, 2, 64}
	if j.Suite == "large" {
		all = few
	}
	add(turn.Get, all, keys.Zipf, keys.Uniform, keys.Absent)
	if j.Rival == "fastcache" {
		add(turn.GetBatch, few, keys.Zipf, keys.Uniform)
	}
	add(turn.Mix, all, keys.Zipf, keys.Uniform)
	add(turn.Set, all, keys.Zipf, keys.Uniform)
	if j.Rival == "fastcache" {
		add(turn.SetBatch, few, keys.Zipf, keys.Uniform)
	}
	return cells
}

// ops is the number of operations in one turn: more with many goroutines, so
// that the scheduler has time to interleave them.
func (j job) ops(goroutines int) int {
	ops := 1 << 20
	if goroutines > 2 {
		ops <<= 2
	}
	if j.ValueSize > 512 {
		ops >>= 1
	}
	return min(ops, max(2*j.Entries, 1<<16))
}

// streamLen is the number of keys laid out for each order: several turns
// before a key comes back for the same reason.
func (j job) streamLen() int { return 2 * j.ops(64) }
