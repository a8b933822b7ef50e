package report

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/firncache/firn/cmd/firn/replay"
)

// summary says in a sentence what the figures of a run mean, and in another one
// what share of the requests they are of, unless of all.
func summary(r *replay.Result) string {
	reads := r.Hits + r.Misses
	if reads == 0 {
		return "There was nothing to read."
	}
	said := fmt.Sprintf("Of %s reads the cache answered %s%s; half of the requests took %s or less, 99 of 100 took %s or less%s; "+
		"the garbage collector had %s of the CPU.",
		humanize.Comma(reads), percent(r.HitRatio), byTier(r), latency(r.P50), latency(r.P99), disk(r), percent(r.GCCPUFraction))
	switch {
	case r.Interrupted:
		said += fmt.Sprintf(" The interrupt came after %.0f %% of the workload.", 100*r.ShareDone)
	case r.ShareDone < 1:
		said += fmt.Sprintf(" The time limit came after %.0f %% of the workload: -time changes it.", 100*r.ShareDone)
	}
	return said
}

// byTier says which tiers the answers came from, if there are two.
func byTier(r *replay.Result) string {
	if r.SSD == nil {
		return " from RAM"
	}
	reads := r.Hits + r.Misses
	return fmt.Sprintf(", %s from RAM and %s from the SSD", share(r.SSD.RAMHits, reads), share(r.SSD.Hits, reads))
}

// disk says what a read of the disk took, if there was one.
func disk(r *replay.Result) string {
	if r.SSD == nil || r.SSD.Reads == 0 {
		return ""
	}
	return fmt.Sprintf(", and a read of the disk %s at the median", latency(r.SSD.P50))
}
