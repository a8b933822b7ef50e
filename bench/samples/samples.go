// Package samples keeps the results of the suites: one value per repeat, as
// JSON for programs and as Go benchmark lines for benchstat.
package samples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Sample is one measured value.
type Sample struct {
	Suite   string   `json:"suite"`             // the suite it belongs to
	Name    string   `json:"name"`              // the measurement: "get/zipf/n=10000000/value=64/goroutines=2"
	Cache   string   `json:"cache"`             // the cache it was measured on
	Against string   `json:"against,omitempty"` // the cache it took turns with; empty: it ran alone, or is firn in turns with several
	Repeat  int      `json:"repeat"`            // from 0
	Ops     int64    `json:"ops"`               // operations behind Value
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`           // of Value: "ns/op", "B/entry", "ms", "%"
	Hit     *float64 `json:"hit,omitempty"`  // share of Gets that hit, 0 to 1; nil: there were none
	Misses  int64    `json:"misses"`         // Gets that found nothing
	Refused int64    `json:"refused"`        // Sets that the cache did not take
	Dropped int64    `json:"dropped"`        // entries that it took and that were gone afterwards, of those looked at
	Note    string   `json:"note,omitempty"` // a remark for readers of the value
	Ratio   *Spread  `json:"-"`              // Value over firn's in the same turns, where Value sums up all of them; nil: a turn of its own
}

// A Run is the result of one suite, and the machine it ran on.
type Run struct {
	Suite    string            `json:"suite"`
	Command  string            `json:"command"`         // the command line to repeat it
	Started  time.Time         `json:"started"`         // UTC
	Seconds  float64           `json:"seconds"`         // how long it took
	Entries  int               `json:"entries"`         // as asked for with -n
	Repeats  int               `json:"repeats"`         // as asked for with -repeats
	Machine  Machine           `json:"machine"`         // where it ran
	Noise    *Noise            `json:"noise,omitempty"` // the machine's other work; nil: the system does not tell
	Versions map[string]string `json:"versions"`        // of every rival
	Notes    []string          `json:"notes,omitempty"` // the parts left out, and why
	Logs     map[string]string `json:"logs,omitempty"`  // text that belongs to the figures, by name: the collector's trace
	Samples  []Sample          `json:"samples,omitempty"`
}

// Save writes the run to dir, as SUITE.json and SUITE.txt (see SaveText).
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
	return r.SaveText(dir)
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
