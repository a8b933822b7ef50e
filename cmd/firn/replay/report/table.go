// Package report shows people what a replay measured: in a few lines, and in a table of everything,
// with the rivals beside the cache.
package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn/cmd/firn/replay"
)

// figure is a row of the table: a label and how a result shows it. A figure
// that is optional is left out where no result has it.
type figure struct {
	label    string
	optional bool
	show     func(r *replay.Result) string // empty: not known
}

var figures = []figure{
	{"requests", false, func(r *replay.Result) string { return humanize.Comma(r.Requests) }},
	{"writes", true, func(r *replay.Result) string { return countAbove0(r.Writes) }},
	{"hit ratio", false, func(r *replay.Result) string { return percent(r.HitRatio) }},
	{"  from RAM", true, ofSSD(func(r *replay.Result, s *replay.SSD) string { return shareOf(s.RAMHits, r.Hits+r.Misses) })},
	{"  from SSD", true, ofSSD(func(r *replay.Result, s *replay.SSD) string { return shareOf(s.Hits, r.Hits+r.Misses) })},
	{"byte hit ratio", true, func(r *replay.Result) string { return percentOf(r.ByteHitRatio) }},
	{"operations a second", false, func(r *replay.Result) string { return humanize.Comma(int64(r.OpsPerSecond)) }},
	{"latency p50", false, func(r *replay.Result) string { return latency(r.P50) }},
	{"latency p99", false, func(r *replay.Result) string { return latency(r.P99) }},
	{"latency p99.9", false, func(r *replay.Result) string { return latency(r.P999) }},
	{"evictions", false, func(r *replay.Result) string { return count(r.Evictions) }},
	{"expired", true, func(r *replay.Result) string { return count(r.Expired) }},
	{"too large", true, func(r *replay.Result) string { return countAbove0(r.Rejected) }},
	{"RAM budget", false, func(r *replay.Result) string { return humanize.IBytes(uint64(r.RAMBytes)) }},
	{"resident memory", false, func(r *replay.Result) string { return memory(r.RSSBytes) }},
	{"  at its peak", true, func(r *replay.Result) string { return memory(r.RSSPeak) }},
	{"  before the cache", true, func(r *replay.Result) string { return memory(r.RSSBefore) }},
	{"GC cycles", false, func(r *replay.Result) string { return humanize.Comma(r.GCCycles) }},
	{"GC share of CPU", false, func(r *replay.Result) string { return percent(r.GCCPUFraction) }},
	{"duration", false, func(r *replay.Result) string { return fmt.Sprintf("%.2f s", r.DurationSeconds) }},
}

// ofSSD shows a figure of the SSD tier, if there is one.
func ofSSD(show func(r *replay.Result, s *replay.SSD) string) func(*replay.Result) string {
	return func(r *replay.Result) string {
		if r.SSD == nil {
			return ""
		}
		return show(r, r.SSD)
	}
}

// counted shows a number of the SSD tier, unless it is 0 and said to be rare.
func counted(rare bool, n func(s *replay.SSD) int64) func(*replay.Result) string {
	return ofSSD(func(_ *replay.Result, s *replay.SSD) string {
		if rare {
			return countAbove0(n(s))
		}
		return humanize.Comma(n(s))
	})
}

func sized(n func(s *replay.SSD) int64) func(*replay.Result) string {
	return ofSSD(func(_ *replay.Result, s *replay.SSD) string { return humanize.IBytes(uint64(n(s))) })
}

func times(q func(s *replay.SSD) *float64) func(*replay.Result) string {
	return ofSSD(func(_ *replay.Result, s *replay.SSD) string {
		if q(s) == nil {
			return ""
		}
		return fmt.Sprintf("%.2f", *q(s))
	})
}

// ssdFigures are the rows about the SSD tier, left out where no result has them.
var ssdFigures = []figure{
	{"SSD tier", true, ofSSD(func(_ *replay.Result, s *replay.SSD) string { return ssdState(s) })},
	{"entries there", true, counted(false, func(s *replay.SSD) int64 { return s.Entries })},
	{"  at the start", true, counted(true, func(s *replay.SSD) int64 { return s.Found })},
	{"space used", true, ofSSD(func(_ *replay.Result, s *replay.SSD) string { return ssdSpace(s) })},
	{"RAM for it", true, sized(func(s *replay.SSD) int64 { return s.MemoryBytes })},
	{"demotions (RAM to SSD)", true, counted(false, func(s *replay.SSD) int64 { return s.Demotions })},
	{"  still there, not written", true, counted(false, func(s *replay.SSD) int64 { return s.Demotions - s.Writes })},
	{"promotions (SSD to RAM)", true, counted(false, func(s *replay.SSD) int64 { return s.Promotions })},
	{"refused by admission", true, counted(false, func(s *replay.SSD) int64 { return s.Refused })},
	{"  by the write budget", true, counted(true, func(s *replay.SSD) int64 { return s.Limited })},
	{"  because the disk was behind", true, counted(true, func(s *replay.SSD) int64 { return s.Shed })},
	{"  no memory for the index", true, counted(true, func(s *replay.SSD) int64 { return s.IndexFull })},
	{"  too large for the log", true, counted(true, func(s *replay.SSD) int64 { return s.TooLarge })},
	{"superseded on SSD", true, counted(true, func(s *replay.SSD) int64 { return s.Superseded })},
	{"evicted from SSD", true, counted(false, func(s *replay.SSD) int64 { return s.Evictions })},
	{"reinserted on SSD", true, counted(true, func(s *replay.SSD) int64 { return s.Reinsertions })},
	{"written to SSD", true, sized(func(s *replay.SSD) int64 { return s.WrittenBytes })},
	{"  per byte set", true, times(func(s *replay.SSD) *float64 { return s.WrittenPerSet })},
	{"  per byte demoted", true, times(func(s *replay.SSD) *float64 { return s.WrittenPerByte })},
	{"disk reads", true, counted(false, func(s *replay.SSD) int64 { return s.Reads })},
	{"  read", true, sized(func(s *replay.SSD) int64 { return s.ReadBytes })},
	{"disk latency p50", true, ofSSD(func(_ *replay.Result, s *replay.SSD) string { return latency(s.P50) })},
	{"disk latency p99", true, ofSSD(func(_ *replay.Result, s *replay.SSD) string { return latency(s.P99) })},
	{"disk latency p99.9", true, ofSSD(func(_ *replay.Result, s *replay.SSD) string { return latency(s.P999) })},
	{"disk faults", true, counted(true, func(s *replay.SSD) int64 { return s.Faults })},
}

func ssdState(s *replay.SSD) string {
	state := "page cache"
	if s.Direct {
		state = "direct I/O"
	}
	if !s.On {
		state = "switched off: see above"
	}
	if s.On && s.Engine != "" {
		state += " by " + s.Engine
	}
	return "admission " + s.Admission + ", " + state
}

// ssdSpace is the space of the segments in use, of the limit of all files.
func ssdSpace(s *replay.SSD) string {
	return ssdUsed(s) + " of " + humanize.IBytes(uint64(s.Bytes))
}

// ssdUsed is the space of the segments in use.
func ssdUsed(s *replay.SSD) string {
	used := s.FileBytes
	if s.Segments > 0 {
		used = int64(float64(s.FileBytes) * float64(s.Segments-s.FreeSegments) / float64(s.Segments))
	}
	return humanize.IBytes(uint64(used))
}

// shareOf is n of all, in percent; empty if there is nothing.
func shareOf(n, all int64) string {
	if all == 0 {
		return ""
	}
	return percent(float64(n) / float64(all))
}

// Table prints a result and those of its rivals side by side, in a style that the place to print on can
// show.
func Table(w io.Writer, result *replay.Result, style table.Style) {
	columns := append([]replay.Result{*result}, result.Against...)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(style)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{""}
	for i := range columns {
		name := columns[i].Cache
		if columns[i].Interrupted {
			name += " (interrupted)"
		}
		header = append(header, name)
	}
	t.AppendHeader(header)
	configs := []table.ColumnConfig{}
	for i := range columns {
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	for _, f := range slices.Concat(figures, ssdFigures) {
		if row, some := tableRow(f, columns); some || !f.optional {
			t.AppendRow(row)
		}
	}
	t.Render()
}

// tableRow returns the row of a figure, and whether any result has it.
func tableRow(f figure, columns []replay.Result) (row table.Row, some bool) {
	row = table.Row{f.label}
	for i := range columns {
		shown := f.show(&columns[i])
		if shown == "" {
			shown = "-"
		} else {
			some = true
		}
		row = append(row, shown)
	}
	return row, some
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

func percentOf(share *float64) string {
	if share == nil {
		return ""
	}
	return percent(*share)
}

func count(n *int64) string {
	if n == nil {
		return ""
	}
	return humanize.Comma(*n)
}

func countAbove0(n int64) string {
	if n == 0 {
		return ""
	}
	return humanize.Comma(n)
}

func memory(n *int64) string {
	if n == nil {
		return ""
	}
	return humanize.IBytes(uint64(*n))
}

// latency shows nanoseconds with three digits.
func latency(ns int64) string {
	d, unit := time.Duration(ns), time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}
