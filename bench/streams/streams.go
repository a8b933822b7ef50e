// Package streams compares firn's buffer pool with others, reading streams to
// their end. The pools of a cell take turns of a few milliseconds, in a new
// order in every round, so that the machine's other work falls on all of them
// alike.
package streams

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// mixed are 512 sizes from 512 bytes to 1 MiB, evenly spread over the doublings.
var mixed = func() []int {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, 512)
	for i := range sizes {
		sizes[i] = int(512 * math.Exp2(11*rng.Float64()))
	}
	return sizes
}()

var cases = []struct {
	name  string
	sizes []int
}{
	{"512", []int{512}},
	{"4096", []int{4 << 10}},
	{"10240", []int{10 << 10}},
	{"65536", []int{64 << 10}},
	{"1048576", []int{1 << 20}},
	{"mixed", mixed},
}

// Options say how long to measure.
type Options struct {
	Rounds int           // turns of each pool in each cell
	Turn   time.Duration // length of a turn, about
	Warm   int           // streams of each pool before its first turn
}

// A Turn is the result of one pool in one turn.
type Turn struct {
	Cell, Pool string
	Round      int
	Streams    int64   // read in the turn
	Ns         float64 // for each stream
	Bytes      int64   // allocated for each stream
	Allocs     int64   // allocations for each stream
}

// Sources lists where streams come from.
func Sources() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// Cells is the number of cells of one source.
func Cells() int { return len(cases) * len(goroutineCounts) }

var goroutineCounts = []int{1, 2, 64}

// Run measures all cells of one source, and calls done with the turns of each.
func Run(from string, o Options, done func([]Turn)) error {
	i := slices.IndexFunc(sources, func(s namedSource) bool { return s.name == from })
	if i < 0 {
		return fmt.Errorf("source %q: expected one of %s", from, strings.Join(Sources(), ", "))
	}
	for _, c := range cases {
		for _, goroutines := range goroutineCounts {
			cell := fmt.Sprintf("source=%s/size=%s/goroutines=%d", from, c.name, goroutines)
			done(compare(cell, sources[i].make, c.sizes, goroutines, o))
		}
	}
	return nil
}

// contender is a rival in one cell.
type contender struct {
	name    string
	readAll func(io.Reader, int64) int
	streams int // of one goroutine in one turn
}

// compare measures one cell. The garbage of a rival without a pool makes the
// collector empty the pools of the others: such a rival comes when they are done.
func compare(cell string, open func() source, sizes []int, goroutines int, o Options) (turns []Turn) {
	var pools, others []*contender
	for _, rv := range rivals {
		c := &contender{name: rv.name, readAll: rv.make(), streams: 1}
		if rv.garbage {
			others = append(others, c)
			continue
		}
		// Every processor is warm, whichever runs the goroutine.
		run(c.readAll, open, sizes, max(goroutines, 2*runtime.GOMAXPROCS(0)), max(o.Warm/goroutines, 1))
		pools = append(pools, c)
	}
	for _, group := range [][]*contender{pools, others} {
		for _, c := range group {
			for c.turn(open, sizes, goroutines).time < o.Turn {
				c.streams *= 2
			}
		}
		for round := range o.Rounds {
			for _, i := range rand.Perm(len(group)) {
				c := group[i]
				r, n := c.turn(open, sizes, goroutines), int64(c.streams*goroutines)
				turns = append(turns, Turn{
					Cell: cell, Pool: c.name, Round: round, Streams: n,
					Ns: float64(r.time) / float64(n), Bytes: int64(r.bytes) / n, Allocs: int64(r.mallocs) / n,
				})
			}
		}
	}
	return turns
}

type result struct {
	time           time.Duration
	bytes, mallocs uint64
}

// turn runs a contender once.
func (c *contender) turn(open func() source, sizes []int, goroutines int) result {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	run(c.readAll, open, sizes, goroutines, c.streams)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return result{took, after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}
}

// run reads streams in each of the goroutines.
func run(readAll func(io.Reader, int64) int, open func() source, sizes []int, goroutines, streams int) {
	var done sync.WaitGroup
	for g := range goroutines {
		done.Go(func() {
			src := open()
			defer src.close()
			for i := range streams {
				read(readAll, src, sizes[(g*37+i)%len(sizes)])
			}
		})
	}
	done.Wait()
}

func read(readAll func(io.Reader, int64) int, src source, size int) {
	r, hint := src.next(size)
	if n := readAll(r, hint); n != size {
		panic(fmt.Sprintf("read %d bytes of %d", n, size))
	}
}
