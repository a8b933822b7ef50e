package tables

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"github.com/firncache/firn/bench/hybrid"
)

// thousandRepeats is how often each cell is measured, after one that does not count.
const thousandRepeats = 10

// thousandStore is a store of the table, by the engine that it is.
type thousandStore struct {
	name, engine string
	pageCache    bool
}

var thousandStores = []thousandStore{
	{"firn", "firn", false}, {"firn by the page cache", "firn", true}, {"sqlite", "sqlite", true},
}

// Thousand writes FasterKvCache's table: 1,000 keys of 4 KiB, half of the operations on 50 of them,
// in 2 MiB of memory, with 1, 4 and 8 goroutines.
func Thousand(w io.Writer) error {
	fmt.Fprintf(w, "| 1,000 operations | goroutines | mean, ms | error | allocations |\n|---|--:|--:|--:|--:|\n")
	for _, op := range hybrid.FasterOps {
		for _, goroutines := range hybrid.FasterGoroutines {
			for _, of := range thousandStores {
				if err := of.row(w, op.Name, op.Sets, goroutines); err != nil {
					return fmt.Errorf("%s, %s: %w", of.name, op.Name, err)
				}
			}
		}
	}
	return nil
}

func (of thousandStore) row(w io.Writer, op string, sets, goroutines int) error {
	e, err := hybrid.Find(of.engine)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "firn-thousand-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: hybrid.FasterMemory, DataBytes: hybrid.FasterKeys * hybrid.FasterValueSize, Readers: 8, PageCache: of.pageCache})
	if err != nil {
		return err
	}
	if err := s.Load(hybrid.FasterKeys, hybrid.Pair(hybrid.FasterValueSize)); err != nil {
		return err
	}
	var all []float64
	var before, after runtime.MemStats
	for repeat := range thousandRepeats + 1 {
		if repeat == 1 {
			runtime.ReadMemStats(&before)
		}
		took, _, err := hybrid.Faster(s, sets, goroutines, uint64(repeat)*100)
		if err != nil {
			return err
		}
		if repeat > 0 {
			all = append(all, took.Seconds()*1e3)
		}
	}
	runtime.ReadMemStats(&after)
	mean, halfwidth := meanOf(all)
	fmt.Fprintf(w, "| %s, %s | %d | %.2f | %.2f | %.0f |\n", op, of.name, goroutines, mean, halfwidth, float64(after.Mallocs-before.Mallocs)/float64(thousandRepeats*goroutines))
	return s.Close()
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
