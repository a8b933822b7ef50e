package main

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn/internal/replay"
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

// printTable prints the name of the trace, and below it the result and those of
// its rivals side by side.
func printTable(w io.Writer, result replay.Result) {
	fmt.Fprintf(w, "%s, %s\n", result.Trace, english.Plural(result.Goroutines, "goroutine", ""))
	columns := append([]replay.Result{result}, result.Against...)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
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
	for _, f := range figures {
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
