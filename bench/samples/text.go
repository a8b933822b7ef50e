package samples

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Units that stand beside a value on its line.
const (
	unitHit   = "hit-ratio"  // share of Gets that hit
	unitRatio = "ratio"      // how many times as long the rival took as firn in its turn
	unitLow   = "ratio-low"  // the quartiles of that, where one line sums up all turns
	unitHigh  = "ratio-high" //
)

// comment begins the lines that benchstat skips. They hold the run without its
// samples, as JSON.
const comment = "# "

// SaveText writes the run to dir as SUITE.txt: Go benchmark lines, which
// benchstat reads, below comments that say how they were measured. ReadText
// reads it again; logs, and the losses of each turn, are in the JSON alone.
func (r *Run) SaveText(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, r.Suite+".txt"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(r.writeText(w), w.Flush(), f.Close())
}

func (r *Run) writeText(w io.Writer) error {
	about := *r
	about.Samples, about.Logs = nil, nil
	head, err := json.MarshalIndent(about, comment, " ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s%s\n", comment, head)
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/firncache/firn/bench\ncpu: %s\n", r.Machine.OS, r.Machine.Arch, r.Machine.CPU)
	turns := firnTurns(r.Samples)
	for _, s := range r.Samples {
		if own := turns.beside(s.Cache, s); own > 0 && s.Against == firn && s.Ratio == nil {
			s.Ratio = &Spread{Median: s.Value / own}
		}
		fmt.Fprintln(w, s.BenchmarkLine(r.Machine.Procs))
	}
	return nil
}

// firn is the cache that all others are compared with.
const firn = "firn"

// A turn is the key that firn's sample has in common with that of the cache beside it.
type turn struct {
	name, rival string
	repeat      int
}

// firnTimes are firn's times, by turn.
type firnTimes map[turn]float64

// beside is firn's time in the turn that s is of: of its turns beside that rival
// alone, or of those beside all of them.
func (t firnTimes) beside(rival string, s Sample) float64 {
	if own := t[turn{s.Name, rival, s.Repeat}]; own > 0 {
		return own
	}
	return t[turn{s.Name, "", s.Repeat}]
}

// firnTurns returns firn's times.
func firnTurns(all []Sample) firnTimes {
	turns := make(firnTimes)
	for _, s := range all {
		if s.Cache == firn && strings.HasPrefix(s.Unit, "ns") {
			turns[turn{s.Name, s.Against, s.Repeat}] = s.Value
		}
	}
	return turns
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
		line += fmt.Sprintf("\t%.5g %s", *s.Hit, unitHit)
	}
	if s.Ratio != nil {
		line += fmt.Sprintf("\t%.4g %s", s.Ratio.Median, unitRatio)
		if s.Ratio.High > 0 {
			line += fmt.Sprintf("\t%.4g %s\t%.4g %s", s.Ratio.Low, unitLow, s.Ratio.High, unitHigh)
		}
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

// pair names the two caches that took turns by the one that is not firn, so
// that benchstat puts them in one row: benchstat -col /cache -filter /pair:otter
func (s Sample) pair() string {
	if s.Against == firn {
		return s.Cache
	}
	return s.Against
}

// ReadText reads a file that SaveText wrote.
func ReadText(file string) (*Run, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var head bytes.Buffer
	for line := range bytes.Lines(body) {
		if text, ok := bytes.CutPrefix(line, []byte(comment)); ok {
			head.Write(text)
		}
	}
	r := new(Run)
	if err := json.Unmarshal(head.Bytes(), r); err != nil {
		return nil, fmt.Errorf("%s: expected a run as JSON behind %q: %w", file, comment, err)
	}
	repeats := make(map[string]int)
	results := benchfmt.NewReader(bytes.NewReader(body), file)
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		s, err := r.parse(result)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := string(result.Name)
		s.Repeat = repeats[name]
		repeats[name]++
		r.Samples = append(r.Samples, s)
	}
	return r, results.Err()
}

// parse is the inverse of BenchmarkLine.
func (r *Run) parse(b *benchfmt.Result) (Sample, error) {
	s := Sample{Suite: r.Suite, Ops: int64(b.Iters)}
	name, ok := strings.CutPrefix(string(b.Name), "_"+r.Suite+"/")
	name, cache, ok2 := strings.Cut(name, "/cache=")
	if !ok || !ok2 || len(b.Values) == 0 {
		return s, fmt.Errorf("benchmark %s: expected _%s/NAME/cache=CACHE and a value", b.Name, r.Suite)
	}
	cache = strings.TrimSuffix(cache, "-"+strconv.Itoa(r.Machine.Procs))
	s.Name = name
	if s.Cache, s.Against, _ = strings.Cut(cache, "/pair="); s.Against == s.Cache {
		s.Against = firn
	}
	s.Value, s.Unit = b.Values[0].Value, b.Values[0].Unit
	if u := b.Values[0].OrigUnit; u != "" { // benchfmt makes seconds of ns
		s.Value, s.Unit = b.Values[0].OrigValue, u
	}
	if hit, ok := b.Value(unitHit); ok {
		s.Hit = &hit
	}
	if high, ok := b.Value(unitHigh); ok {
		low, _ := b.Value(unitLow)
		median, _ := b.Value(unitRatio)
		s.Ratio = &Spread{median, low, high, r.Repeats}
	}
	return s, nil
}
