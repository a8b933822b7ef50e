package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	wrap "github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn/cmd/firn/replay"
)

// Summary prints in a few lines of so many columns what a replay measured.
func Summary(w io.Writer, r *replay.Result, columns int) {
	for _, line := range head(r) {
		fold(w, "", line, columns)
	}
	if r.Hits+r.Misses == 0 {
		fmt.Fprintln(w, "There was nothing to read.")
		return
	}
	fmt.Fprintln(w)
	for _, row := range rows(r) {
		if row[1] != "" {
			fold(w, fmt.Sprintf("  %-*s ", labelWidth, row[0]), row[1], columns)
		}
	}
	if r.SSD != nil && !r.SSD.On {
		fmt.Fprintln(w, "\nThe SSD tier was switched off, for the reason logged above.")
	}
}

// fold prints text behind a label, and what does not fit in one line below itself.
func fold(w io.Writer, label, text string, columns int) {
	for line := range strings.SplitSeq(wrap.WrapSoft(text, max(columns-len(label), labelWidth)), "\n") {
		fmt.Fprintln(w, strings.TrimRight(label+line, " "))
		label = strings.Repeat(" ", len(label))
	}
}

// labelWidth is the width of the longest label.
const labelWidth = len("answered from RAM")

// head says what was replayed, and through which cache.
func head(r *replay.Result) []string {
	did := fmt.Sprintf("%s: %s in %.1f s%s", r.Trace, requests(r), r.DurationSeconds, done(r))
	cache := "RAM " + humanize.IBytes(uint64(r.RAMBytes))
	if s := r.SSD; s != nil {
		cache += ", SSD " + humanize.IBytes(uint64(s.Bytes)) + " in "
		if s.Dir == "" {
			cache += "a temporary directory"
		} else {
			cache += s.Dir
		}
	}
	return []string{did, cache + ", " + english.Plural(r.Goroutines, "goroutine", "")}
}

// requests says how many reads there were, and how many writes beside them.
func requests(r *replay.Result) string {
	text := humanize.Comma(r.Hits+r.Misses) + " reads"
	if r.Writes > 0 {
		text += " and " + humanize.Comma(r.Writes) + " writes"
	}
	return text
}

// done says which share of the workload that was, unless all of it.
func done(r *replay.Result) string {
	switch {
	case r.Interrupted:
		return fmt.Sprintf(" (interrupted after %.0f %% of the workload)", 100*r.ShareDone)
	case r.ShareDone < 1 && r.ShareDone > 0:
		all := time.Duration(r.DurationSeconds / r.ShareDone * float64(time.Second)).Round(time.Second)
		return fmt.Sprintf(" (%.0f %% of the workload; -time %v for all)", 100*r.ShareDone, all+all/10/time.Second*time.Second)
	}
	return ""
}

// rows are the figures, each with its label; an empty one is not known.
func rows(r *replay.Result) [][2]string {
	reads := r.Hits + r.Misses
	found := [][2]string{{"answered from RAM", share(r.Hits, reads)}}
	if s := r.SSD; s != nil {
		disk := share(s.Hits, reads)
		if s.Reads > 0 {
			disk += fmt.Sprintf("   half within %s, 99 %% within %s", latency(s.P50), latency(s.P99))
		}
		found = [][2]string{{"answered from RAM", share(s.RAMHits, reads)}, {"answered from SSD", disk}}
	}
	found = append(found,
		[2]string{"missed", share(r.Misses, reads)},
		[2]string{"speed", humanize.Comma(int64(r.OpsPerSecond)) + " requests a second"},
		[2]string{"latency", fmt.Sprintf("half within %s, 99 %% within %s", latency(r.P50), latency(r.P99))},
		[2]string{"memory", resident(r)},
	)
	if s := r.SSD; s != nil {
		found = append(found, [2]string{"SSD", onDisk(s)})
	}
	if r.Rejected > 0 {
		found = append(found, [2]string{"too large", replay.TooLarge(r.Rejected)})
	}
	return found
}

// share is a part of some reads, in a column of percents.
func share(n, all int64) string { return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(max(all, 1))) }

// resident is what the process has of memory, and what the collector has of the processors.
func resident(r *replay.Result) string {
	collector := fmt.Sprintf("garbage collector %.1f %% of the CPU", 100*r.GCCPUFraction)
	if r.RSSBytes == nil {
		return collector
	}
	return memory(r.RSSBytes) + " resident; " + collector
}

// onDisk is what the SSD tier holds, and was written for it.
func onDisk(s *replay.SSD) string {
	text := fmt.Sprintf("%s entries in %s", humanize.Comma(s.Entries), ssdUsed(s))
	if s.WrittenPerSet != nil {
		text += fmt.Sprintf("; %.2f bytes written per byte set", *s.WrittenPerSet)
	}
	return text
}

// Hints says where more is to be had.
const Hints = "All figures: -details. In a browser: -live :8080. What the words mean: docs/OPERATIONS.md."
