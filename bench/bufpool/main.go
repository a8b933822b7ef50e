// Command bufpool compares firn's buffer pool with others, reading streams to
// their end, and prints Go benchmark lines for benchstat:
//
//	go run ./bufpool > bufpool.txt
//	benchstat -col /pool@(firn sync.Pool bytebufferpool gmmpool grpc-mem io.ReadAll) bufpool.txt
//
// The rivals of a cell take turns of a few milliseconds, in a new order in every
// round, so that what else the machine does falls on all of them alike.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"sync"
	"time"
)

var (
	rounds = flag.Int("rounds", 16, "turns of each rival in each cell")
	turn   = flag.Duration("turn", 3*time.Millisecond, "length of a turn")
	only   = flag.String("only", "", "regular expression of the cells to run, as in src=memory/size=512/g=1")
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
	{"4KiB", []int{4 << 10}},
	{"10KiB", []int{10 << 10}},
	{"64KiB", []int{64 << 10}},
	{"1MiB", []int{1 << 20}},
	{"mixed", mixed},
}

func main() {
	flag.Parse()
	wanted := regexp.MustCompile(*only)
	fmt.Printf("goos: %s\ngoarch: %s\npkg: github.com/firncache/firn/bench/bufpool\n", runtime.GOOS, runtime.GOARCH)
	for _, src := range sources {
		for _, c := range cases {
			for _, goroutines := range []int{1, 2, 64} {
				name := fmt.Sprintf("src=%s/size=%s/g=%d", src.name, c.name, goroutines)
				if wanted.MatchString(name) {
					compare(name, src.make, c.sizes, goroutines)
				}
			}
		}
	}
}

// contender is a rival in one cell.
type contender struct {
	name    string
	readAll func(io.Reader, int64) int
	streams int // of one goroutine in one turn
}

// compare measures one cell. The garbage of a rival without a pool makes the
// collector empty the pools of the others: such a rival comes when they are done.
func compare(name string, open func() source, sizes []int, goroutines int) {
	var pools, others []*contender
	for _, rv := range rivals {
		c := &contender{name: rv.name, readAll: rv.make(), streams: 1}
		if rv.garbage {
			others = append(others, c)
			continue
		}
		// Every processor is warm, whichever runs the goroutine.
		run(c.readAll, open, sizes, max(goroutines, 2*runtime.GOMAXPROCS(0)), 1024/goroutines)
		pools = append(pools, c)
	}
	for _, group := range [][]*contender{pools, others} {
		for _, c := range group {
			for c.turn(open, sizes, goroutines).time < *turn {
				c.streams *= 2
			}
		}
		for range *rounds {
			for _, i := range rand.Perm(len(group)) {
				group[i].print(name, goroutines, group[i].turn(open, sizes, goroutines))
			}
		}
	}
}

func (c *contender) print(cell string, goroutines int, r result) {
	n := uint64(c.streams * goroutines)
	fmt.Printf("BenchmarkReadAll/%s/pool=%s-%d\t%d\t%.1f ns/op\t%d B/op\t%d allocs/op\n",
		cell, c.name, runtime.GOMAXPROCS(0), n, float64(r.time)/float64(n), r.bytes/n, r.mallocs/n)
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
