package report

import (
	"testing"

	"github.com/firncache/firn/cmd/firn/replay"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	ram := replay.Result{Hits: 700, Misses: 300, HitRatio: .7, P50: 500, P99: 90_000, GCCPUFraction: .0123, ShareDone: 1}
	tiers, late, stopped := ram, ram, ram
	tiers.SSD = &replay.SSD{RAMHits: 600, Hits: 100, Reads: 110, P50: 81_000}
	late.ShareDone = .414
	stopped.ShareDone, stopped.Interrupted = .05, true
	const figures = "half of the requests took 500ns or less, 99 of 100 took 90µs or less"
	const collector = "; the garbage collector had 1.23 % of the CPU."
	const fromRAM = "Of 1,000 reads the cache answered 70.00 % from RAM; " + figures + collector
	for _, test := range []struct {
		result replay.Result
		want   string
	}{
		{ram, fromRAM},
		{tiers, "Of 1,000 reads the cache answered 70.00 %, 60.00 % from RAM and 10.00 % from the SSD; " +
			figures + ", and a read of the disk 81µs at the median" + collector},
		{late, fromRAM + " The time limit came after 41 % of the workload: -time changes it."},
		{stopped, fromRAM + " The interrupt came after 5 % of the workload."},
		{replay.Result{}, "There was nothing to read."},
	} {
		if got := summary(&test.result); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
