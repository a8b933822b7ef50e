// Package samples keeps what the suites measured: one value per repeat, as
// JSON for programs and as Go benchmark lines for benchstat.
package samples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A Sample is one measured value.
type Sample struct {
	Suite   string   `json:"suite"`             // the suite it belongs to
	Name    string   `json:"name"`              // what was measured: "get/zipf/n=10000000/value=64/goroutines=2"
	Cache   string   `json:"cache"`             // the cache it was measured on
	Against string   `json:"against,omitempty"` // the cache it took turns with; empty: it ran alone
	Repeat  int      `json:"repeat"`            // from 0
	Ops     int64    `json:"ops"`               // operations behind Value
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`           // of Value: "ns/op", "B/entry", "ms", "%"
	Hit     *float64 `json:"hit,omitempty"`  // share of Gets that hit, 0 to 1; nil: there were none
	Misses  int64    `json:"misses"`         // Gets that found nothing
	Refused int64    `json:"refused"`        // Sets that the cache did not take
	Dropped int64    `json:"dropped"`        // entries that it took and that were gone afterwards, of those looked at
	Note    string   `json:"note,omitempty"` // what a reader of the value has to know
}

// A Run is what one suite brought, and where.
type Run struct {
	Suite    string            `json:"suite"`
	Command  string            `json:"command"`         // what to type to repeat it
	Started  time.Time         `json:"started"`         // UTC
	Seconds  float64           `json:"seconds"`         // how long it took
	Entries  int               `json:"entries"`         // as asked for with -n
	Repeats  int               `json:"repeats"`         // as asked for with -repeats
	Machine  Machine           `json:"machine"`         // where it ran
	Noise    *Noise            `json:"noise,omitempty"` // what else the machine did; nil: the system does not tell
	Versions map[string]string `json:"versions"`        // of every rival
	Notes    []string          `json:"notes,omitempty"` // what was left out, and why
	Logs     map[string]string `json:"logs,omitempty"`  // text that belongs to the figures, by name: the collector's trace
	Samples  []Sample          `json:"samples"`
}

// Save writes the run to dir, as SUITE.json and SUITE.txt (Go benchmark
// lines).
func (r *Run) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	body, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, r.Suite+".json"), append(body, '\n'), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, r.Suite+".txt"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	r.benchmarkLines(w)
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// Load reads the run that Save wrote to the named JSON file, and checks it
// against the schema.
func Load(file string) (*Run, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := Validate(body); err != nil {
		return nil, fmt.Errorf("%s: expected the results of a suite: %w", file, err)
	}
	r := new(Run)
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("%s: expected the results of a suite: %w", file, err)
	}
	return r, nil
}

// benchmarkLines prints the samples in the format of `go test -bench`.
func (r *Run) benchmarkLines(w io.Writer) {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/firncache/firn/bench\ncpu: %s\n", r.Machine.OS, r.Machine.Arch, r.Machine.CPU)
	for _, s := range r.Samples {
		fmt.Fprintln(w, s.BenchmarkLine(r.Machine.Procs))
	}
}

// pair names the two caches that took turns by the one that is not firn, so
// that benchstat puts them in one row: benchstat -col /cache -filter /pair:otter
func (s Sample) pair() string {
	if s.Against == "firn" {
		return s.Cache
	}
	return s.Against
}

// BenchmarkLine is the sample as `go test -bench` would print it at the given
// GOMAXPROCS.
func (s Sample) BenchmarkLine(procs int) string {
	name := fmt.Sprintf("Benchmark_%s/%s/cache=%s", s.Suite, s.Name, s.Cache)
	if s.Against != "" {
		name += "/pair=" + s.pair()
	}
	line := fmt.Sprintf("%s-%d\t%d\t%.6g %s", name, procs, max(s.Ops, 1), s.Value, s.Unit)
	if s.Hit != nil {
		line += fmt.Sprintf("\t%.5f hit-ratio", *s.Hit)
	}
	for _, count := range []struct {
		n    int64
		unit string
	}{{s.Misses, "misses"}, {s.Refused, "refused"}, {s.Dropped, "dropped"}} {
		if count.n > 0 {
			line += fmt.Sprintf("\t%d %s", count.n, count.unit)
		}
	}
	return line
}
