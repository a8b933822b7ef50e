package tables

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/firncache/firn"
)

// traced is the variable that makes a process one of GCTrace's, with what it fills.
const traced = "FIRN_BENCH_GCTRACE"

// tracedEntries is how many entries are filled in, of 8 + 64 bytes.
const tracedEntries = 1_000_000

// GCTrace writes GODEBUG=gctrace=1's lines of ten collections beside a map and beside firn, each
// with as many entries, and what the fields say.
func GCTrace(w io.Writer) error {
	if what := os.Getenv(traced); what != "" {
		return collectTen(what)
	}
	for _, what := range []string{"map", "firn"} {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.Command(self, "table", "gctrace")
		cmd.Env = append(os.Environ(), traced+"="+what, "GODEBUG=gctrace=1")
		var trace strings.Builder
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", what, err, trace.String())
		}
		fmt.Fprintf(w, "%s, %d entries of 8 + 64 bytes:\n\n", what, tracedEntries)
		var lines []string
		for line := range strings.Lines(trace.String()) {
			if strings.HasPrefix(line, "gc ") && strings.Contains(line, "(forced)") {
				lines = append(lines, line)
			}
		}
		for _, line := range lines[max(0, len(lines)-10):] {
			fmt.Fprintf(w, "    %s", line)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, `- gc 12: the twelfth collection; @1.5s: since the start; 3%: of all processor time since then went into collections.
- 0.05+210+0.01 ms clock: the world stands, marking beside the program, the world stands: by the clock.
- 0.1+0.2/400/0+0.02 ms cpu: the same in processor time; of marking, what allocating goroutines did / what the collector did / what it did in idle time.
- 165->165->164 MB: the heap when it began, when it ended, and what of it lives.
- 328 MB goal: the size at which the next one is to end; stacks and globals are scanned as roots; P: processors.
`)
	return nil
}

// collectTen fills a map or a cache, and collects ten times.
func collectTen(what string) error {
	value := make([]byte, 64)
	switch what {
	case "map":
		m := map[string][]byte{}
		for i := range tracedEntries {
			m[strconv.Itoa(10_000_000+i)] = append([]byte(nil), value...)
		}
		defer runtime.KeepAlive(m)
	case "firn":
		c, err := firn.Open(firn.Options{RAMBytes: 256 << 20})
		if err != nil {
			return err
		}
		defer c.Close()
		for i := range tracedEntries {
			if err := c.Set(strconv.AppendInt(nil, int64(10_000_000+i), 10), value); err != nil {
				return err
			}
		}
	}
	for range 10 {
		runtime.GC()
	}
	return nil
}
