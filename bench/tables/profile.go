package tables

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"
)

// way is one way to do something.
type way struct {
	name string
	do   func()
}

// useful are the functions that do what a way is for: its own, copies of bytes, and the reader.
var useful = regexp.MustCompile(`^(runtime\.memmove|bytes\.\(\*Reader\)|github\.com/firncache/firn/bench/tables\.)`)

// compare writes a row for each way: time, memory, and the share of useful work.
func compare(w io.Writer, per int, what string, ways []way) error {
	fmt.Fprintf(w, "| %s | ns | bytes | allocations | useful work |\n|---|--:|--:|--:|--:|\n", what)
	for _, x := range ways {
		r, top, err := measure(x.do)
		if err != nil {
			return err
		}
		n := float64(r.N) * float64(per)
		share := 0.0
		for _, f := range top {
			if useful.MatchString(f.name) {
				share += f.percent
			}
		}
		fmt.Fprintf(w, "| %s | %.1f | %.0f | %.3g | %.0f %% |\n", x.name, float64(r.T.Nanoseconds())/n, float64(r.MemBytes)/n, float64(r.MemAllocs)/n, share)
	}
	return nil
}

// function is a line of a profile.
type function struct {
	name    string
	percent float64 // of the processor time, its own
}

// profiled is how long a way runs for its profile, at 100 samples a second of the processor.
const profiled = 5 * time.Second

// measure measures do, and then has a profile of the processor made.
func measure(do func()) (r testing.BenchmarkResult, top []function, err error) {
	dir, err := os.MkdirTemp("", "firn-profile-")
	if err != nil {
		return r, nil, err
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "cpu"))
	if err != nil {
		return r, nil, err
	}
	defer f.Close()
	r = testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			do()
		}
	})
	if err := pprof.StartCPUProfile(f); err != nil {
		return r, nil, err
	}
	for until := time.Now().Add(profiled); time.Now().Before(until); {
		do()
	}
	pprof.StopCPUProfile()
	top, err = topOf(f.Name())
	return r, top, err
}

// topOf are the functions of a profile, those with the most time first.
func topOf(file string) (top []function, err error) {
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", file).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool pprof: %w", err)
	}
	for line := range strings.Lines(string(out)) { // flat flat% sum% cum cum% name
		words := strings.Fields(line)
		if len(words) < 6 || !strings.HasSuffix(words[1], "%") {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(words[1], "%"), 64)
		if err != nil {
			continue
		}
		top = append(top, function{strings.Join(words[5:], " "), percent})
	}
	return top, nil
}
