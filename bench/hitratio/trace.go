// Package hitratio compares eviction policies by their hits, at equal bytes: real
// caches filled with real values, and simulated policies that pay for the
// bookkeeping they would need.
package hitratio

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/internal/workload"
)

// DefaultSize is the length of a value whose trace does not tell it, in bytes.
const DefaultSize = 1 << 10

// A Trace is a sequence of reads. Keys are numbered 0, 1, 2, … in the order of
// their first request.
type Trace struct {
	Name     string
	Requests []int32
	Sizes    []int32 // of each key's value, in bytes
	Sized    bool    // the trace tells sizes; otherwise all are DefaultSize
}

// WorkingSet is the bytes of all keys and values.
func (t *Trace) WorkingSet() (bytes int64) {
	for _, size := range t.Sizes {
		bytes += keys.Size + int64(size)
	}
	return bytes
}

// generatedPrefix marks the names of generated traces.
const generatedPrefix = "generated-"

// Find lists the traces to replay: the trace files in dir, or the generated set
// where dir is empty. A file that is no trace, or an empty one, is an error.
func Find(dir string) ([]string, error) {
	if dir == "" {
		return Generated(), nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.trc*"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("FIRN_TRACES: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("FIRN_TRACES %s: no traces; expected files NAME.trc or NAME.trc.zst, or no FIRN_TRACES for the generated set", dir)
	}
	for _, file := range files {
		src, err := workload.Open(file, "")
		if err != nil {
			return nil, fmt.Errorf("FIRN_TRACES: %w", err)
		}
		src.Close()
	}
	slices.Sort(files)
	return files, nil
}

// Load reads the first limit requests of a trace that Find has listed.
func Load(name string, limit int) (*Trace, error) {
	if kind, ok := strings.CutPrefix(name, generatedPrefix); ok {
		return generate(kind, limit)
	}
	src, err := workload.Open(name, "")
	if err != nil {
		return nil, err
	}
	defer src.Close()
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return read(base, workload.Limit(src, int64(limit)))
}

// read numbers the keys of a source.
func read(name string, src workload.Source) (*Trace, error) {
	t := &Trace{Name: name}
	numbers := make(map[uint64]int32)
	for batch := make([]workload.Request, 4096); ; {
		n, err := src.Read(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, r := range batch[:n] {
			number, ok := numbers[r.Key]
			if !ok {
				number = int32(len(t.Sizes))
				numbers[r.Key] = number
				t.Sized = t.Sized || r.Size > 0
				if r.Size == 0 {
					r.Size = DefaultSize
				}
				t.Sizes = append(t.Sizes, int32(r.Size))
			}
			t.Requests = append(t.Requests, number)
		}
	}
	if len(t.Requests) == 0 {
		return nil, fmt.Errorf("trace %s: no requests; expected some", name)
	}
	return t, nil
}

// generators make a request each, one workload for each thing that eviction
// has to get right. i counts from 0 to n.
var generators = []struct {
	name string
	make func(rng *rand.Rand, n int) func(i int) uint64
}{
	{"zipf", func(rng *rand.Rand, n int) func(int) uint64 {
		z := workload.NewZipf(rng, 0.9, uint64(n/10+1))
		return func(int) uint64 { return z.Next() }
	}},
	{"scans", func(rng *rand.Rand, n int) func(int) uint64 {
		z := workload.NewZipf(rng, 0.9, uint64(n/20+1))
		return func(i int) uint64 {
			if i/5000%2 == 0 {
				return z.Next()
			}
			return uint64(n + i)
		}
	}},
	{"loop", func(_ *rand.Rand, n int) func(int) uint64 {
		return func(i int) uint64 { return uint64(i % (n/20 + 1)) }
	}},
	{"drift", func(rng *rand.Rand, n int) func(int) uint64 {
		z := workload.NewZipf(rng, 0.9, uint64(n/20+1))
		return func(i int) uint64 { return z.Next() + uint64(i/20) }
	}},
}

// Generated lists the generated traces.
func Generated() []string {
	var names []string
	for _, g := range generators {
		names = append(names, generatedPrefix+g.name)
	}
	return names
}

func generate(kind string, limit int) (*Trace, error) {
	for _, g := range generators {
		if g.name == kind {
			s := &generated{next: g.make(rand.New(rand.NewPCG(11, 17)), limit), left: limit}
			return read(generatedPrefix+kind, s)
		}
	}
	return nil, fmt.Errorf("trace %s%s: expected one of %s", generatedPrefix, kind, strings.Join(Generated(), ", "))
}

// generated is a workload.Source of made-up requests.
type generated struct {
	next    func(i int) uint64
	i, left int
}

func (g *generated) Read(dst []workload.Request) (int, error) {
	if g.left == 0 {
		return 0, io.EOF
	}
	n := min(len(dst), g.left)
	for k := range n {
		dst[k] = workload.Request{Key: g.next(g.i)}
		g.i++
	}
	g.left -= n
	return n, nil
}

func (g *generated) Done() float64 { return float64(g.i) / float64(g.i+g.left) }
func (g *generated) Close() error  { return nil }
