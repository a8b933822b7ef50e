package report

import (
	"bytes"
	"testing"

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
		{ram, "generated: 1,000 reads in 14.5 s, 1 goroutine\nRAM 128 MiB\n" + figures},
		{tiers, `generated: 1,000 reads in 14.5 s, 1 goroutine
RAM 128 MiB, SSD 512 MiB in /var/cache

  answered from RAM  60.0 %
  answered from SSD  10.0 %   half within 81µs, 99 % within 27ms
  missed             30.0 %
  speed             79,800 requests a second
  latency           half within 500ns, 99 % within 90µs
  memory            150 MiB resident; garbage collector 0.2 % of the CPU
  SSD               300,030 entries in 0 B
`},
		{late, "generated: 1,000 reads in 14.5 s (39 % of the workload; -time 40s for all), 1 goroutine\nRAM 128 MiB\n" + figures},
		{stopped, "generated: 1,000 reads in 14.5 s (interrupted after 5 % of the workload), 1 goroutine\nRAM 128 MiB\n" + figures},
		{writes, "generated: 1,000 reads and 1,000 writes in 14.5 s, 1 goroutine\nRAM 128 MiB\n" + answered +
			"  memory            garbage collector 0.2 % of the CPU\n  too large         7 values were larger than the cache takes\n"},
		{replay.Result{Trace: "t"}, "t: 0 reads in 0.0 s, 0 goroutines\nRAM 0 B\nThere was nothing to read.\n"},
	} {
		var out bytes.Buffer
		if Summary(&out, &test.result); out.String() != test.want {
			t.Errorf("got\n%swant\n%s", &out, test.want)
		}
	}
}
