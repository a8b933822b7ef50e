package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firncache/firn/cmd/firn/replay"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	resident := int64(150 << 20)
	ram := replay.Result{
		Trace: "generated", Goroutines: 1, RAMBytes: 128 << 20, Hits: 700, Misses: 300, P50: 500, P99: 90_000,
		DurationSeconds: 14.5, OpsPerSecond: 79_800, GCCPUFraction: .0021, RSSBytes: &resident, ShareDone: 1,
	}
	tiers, late, stopped, writes := ram, ram, ram, ram
	tiers.SSD = &replay.SSD{On: true, RAMHits: 600, Hits: 100, Reads: 110, P50: 81_000, P99: 27_000_000, Bytes: 512 << 20, Entries: 300_030, Dir: "/var/cache"}
	late.ShareDone = .39
	stopped.ShareDone, stopped.Interrupted = .05, true
	writes.Writes, writes.Rejected, writes.RSSBytes = 1000, 7, nil
	const answered = "\n  answered from RAM  70.0 %\n  missed             30.0 %\n  speed             79,800 requests a second\n  latency           half within 500ns, 99 % within 90µs\n"
	const figures = answered + "  memory            150 MiB resident; garbage collector 0.2 % of the CPU\n"
	for _, test := range []struct {
		result replay.Result
		want   string
	}{
		{ram, "generated: 1,000 reads in 14.5 s\nRAM 128 MiB, 1 goroutine\n" + figures},
		{tiers, `generated: 1,000 reads in 14.5 s
RAM 128 MiB, SSD 512 MiB in /var/cache, 1 goroutine

  answered from RAM  60.0 %
  answered from SSD  10.0 %   half within 81µs, 99 % within 27ms
  missed             30.0 %
  speed             79,800 requests a second
  latency           half within 500ns, 99 % within 90µs
  memory            150 MiB resident; garbage collector 0.2 % of the CPU
  SSD               300,030 entries in 0 B
`},
		{late, "generated: 1,000 reads in 14.5 s (39 % of the workload; -time 40s for all)\nRAM 128 MiB, 1 goroutine\n" + figures},
		{stopped, "generated: 1,000 reads in 14.5 s (interrupted after 5 % of the workload)\nRAM 128 MiB, 1 goroutine\n" + figures},
		{writes, "generated: 1,000 reads and 1,000 writes in 14.5 s\nRAM 128 MiB, 1 goroutine\n" + answered +
			"  memory            garbage collector 0.2 % of the CPU\n  too large         7 values were larger than the cache takes\n"},
		{replay.Result{Trace: "t"}, "t: 0 reads in 0.0 s\nRAM 0 B, 0 goroutines\nThere was nothing to read.\n"},
	} {
		var out bytes.Buffer
		if Summary(&out, &test.result, 79); out.String() != test.want {
			t.Errorf("got\n%swant\n%s", &out, test.want)
		}
	}
}

// In a narrow terminal no line is longer than that, and what a label stands for stays in its column.
func TestSummaryIsNarrow(t *testing.T) {
	t.Parallel()
	resident := int64(150 << 20)
	var out bytes.Buffer
	Summary(&out, &replay.Result{Trace: "generated", Goroutines: 2, RAMBytes: 16 << 20, Hits: 463_000, Misses: 370_000, DurationSeconds: 5.3, ShareDone: .03, RSSBytes: &resident}, 59)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > 59 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if want := "CPU\n"; !strings.Contains(out.String(), "\n"+strings.Repeat(" ", labelWidth+3)) || !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s", &out)
	}
}
