package tables

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/firncache/firn/bench/hybrid"
)

// thousandRepeats is how often each cell is measured, after one that does not count.
const thousandRepeats = 10

// thousandStores are the table's columns.
var thousandStores = []struct {
	name, engine string
	pageCache    bool
}{
	{"firn, device", hybrid.Firn, false}, {"firn, page cache", hybrid.Firn, true}, {"SQLite", "sqlite", false},
}

// Thousand writes FasterKvCache's table: 1,000 keys of 4 KiB, half of the operations on 50 of them,
// in 2 MiB of memory, with 1, 4 and 8 goroutines.
func Thousand(w io.Writer) error {
	times, allocations := "", ""
	for _, of := range thousandStores {
		times += " " + of.name + " |"
		allocations += " " + of.name + ", allocations |"
	}
	fmt.Fprintf(w, "| | goroutines |%s%s\n|---|--:|%s\n", times, allocations, strings.Repeat("--:|", 2*len(thousandStores)))
	for _, op := range hybrid.FasterOps {
		for _, goroutines := range hybrid.FasterGoroutines {
			times, allocations = "", ""
			for _, of := range thousandStores {
				c, err := thousand(of.engine, of.pageCache, op.Sets, goroutines)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", of.name, op.Name, err)
				}
				times += fmt.Sprintf(" %.1f ± %.1f |", c.mean, c.halfwidth)
				allocations += fmt.Sprintf(" %.0f |", c.allocations)
			}
			fmt.Fprintf(w, "| %s | %d |%s%s\n", op.Name, goroutines, times, allocations)
		}
	}
	return nil
}

// thousandCell is what 1,000 operations took, in milliseconds, and allocated.
type thousandCell struct{ mean, halfwidth, allocations float64 }

func thousand(engine string, pageCache bool, sets, goroutines int) (c thousandCell, err error) {
	e, err := hybrid.Find(engine)
	if err != nil {
		return c, err
	}
	dir, err := os.MkdirTemp("", "firn-thousand-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	s, err := e.Open(hybrid.Config{
		Dir: dir, Memory: hybrid.FasterMemory, DataBytes: hybrid.FasterKeys * hybrid.FasterValueSize, Readers: 8, PageCache: pageCache,
	})
	if err != nil {
		return c, err
	}
	if err := s.Load(hybrid.FasterKeys, hybrid.Pair(hybrid.FasterValueSize)); err != nil {
		return c, err
	}
	var all []float64
	var before, after runtime.MemStats
	for repeat := range thousandRepeats + 1 {
		if repeat == 1 {
			runtime.ReadMemStats(&before)
		}
		took, _, err := hybrid.Faster(s, sets, goroutines, uint64(repeat)*100)
		if err != nil {
			return c, err
		}
		if repeat > 0 {
			all = append(all, took.Seconds()*1e3)
		}
	}
	runtime.ReadMemStats(&after)
	c.mean, c.halfwidth = meanOf(all)
	c.allocations = float64(after.Mallocs-before.Mallocs) / float64(thousandRepeats*goroutines)
	return c, s.Close()
}

// student is the quantile of Student's t for 99.9 % on both sides and thousandRepeats values.
const student = 4.781

// meanOf is the mean, and half of its interval of 99.9 %, the Error of BenchmarkDotNet's tables.
func meanOf(values []float64) (mean, halfwidth float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return mean, student * math.Sqrt(squares/(n-1)/n)
}
