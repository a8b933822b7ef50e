package main

import "strings"

// chosen is the matcher that selects what the dashboard's variables say.
const chosen = `{job=~"$job",instance=~"$instance",cache=~"$cache"}`

// row is a headline and the panels below it.
type row struct {
	title  string
	panels []panel
}

// panel is a graph. Its lines are metrics of one unit, either all counters or
// all gauges; or one expression of its own.
type panel struct {
	title   string
	metrics []string // as stats.Metrics names them
	heat    string   // a distribution as a heatmap, in place of metrics
	query   string   // a query of its own, of shares, in place of metrics
	legend  string   // of its lines
	share   string   // of this counter in the sum of the others; then that is the only line
}

// rows are the dashboard. Metrics that no panel names get panels at its end.
var rows = []row{
	{"Overview", []panel{
		{title: "Hit ratio", metrics: []string{"hits", "misses"}, share: "hits"},
		{title: "Misses by amount of RAM: ½, 1, 2 and 4 times", query: "avg by (cache, factor) (firn_curve_miss_ratio" + of(`memory="ram",factor=~"0.5|1|2|4"`) + ")", legend: "{{cache}} × {{factor}}"},
		{title: "Share of loads that fail", query: "sum by (cache) (rate(firn_load_errors_total" + chosen + "[$__rate_interval])) / sum by (cache) (rate(firn_loads_total" + chosen + "[$__rate_interval]))", legend: "{{cache}}"},
		{title: "Misses by namespace, as a share of its reads", query: "sum by (cache, namespace) (rate(firn_namespace_misses_total" + chosen + "[$__rate_interval])) / sum by (cache, namespace) (rate(firn_namespace_misses_total" + chosen + "[$__rate_interval]) + rate(firn_namespace_hits_total" + chosen + "[$__rate_interval]))", legend: "{{cache}} {{namespace}}"},
		{title: "Time that loads take", heat: "load_duration"},
		{title: "Time that reads of the disk take", heat: "ssd_read_duration"},
	}},
	{"Reads and writes", []panel{
		{title: "Reads", metrics: []string{"hits", "misses"}},
		{title: "Writes", metrics: []string{"sets", "deletes"}},
	}},
	{"Memory", []panel{
		{title: "RAM", metrics: []string{"ram_bytes", "ram_used_bytes", "ram_resident_bytes"}},
		{title: "What the RAM holds", metrics: []string{"record_bytes", "index_bytes", "overhead_bytes"}},
		{title: "Entries", metrics: []string{"entries"}},
	}},
	{"What leaves, and what stays", []panel{
		{title: "Leaving", metrics: []string{"evictions", "expirations", "replacements", "deletes", "cleared"}},
		{title: "Age of what leaves RAM for want of room", metrics: []string{"eviction_age"}},
		{title: "Kept", metrics: []string{"reinsertions"}},
		{title: "Probation and main", metrics: []string{"small_bytes", "main_bytes"}},
	}},
	{"SSD: reads", []panel{
		{title: "Share of reads that the SSD answers", metrics: []string{"hits", "misses"}, share: "ssd_hits"},
		{title: "Between RAM and SSD", metrics: []string{"demotions", "promotions", "ssd_writes"}},
		{title: "Time that reads of the disk take", metrics: []string{"ssd_read_duration"}},
	}},
	{"SSD: writes and room", []panel{
		{title: "Not written", metrics: []string{"ssd_rejected", "ssd_limited", "ssd_quota_rejected", "ssd_dropped", "ssd_index_full", "ssd_too_large"}},
		{title: "Leaving the SSD", metrics: []string{"ssd_invalidated", "ssd_evictions", "ssd_expirations", "ssd_reinsertions"}},
		{title: "Read and written", metrics: []string{"ssd_read_bytes", "ssd_write_bytes", "ssd_written_bytes"}},
		{title: "Written in a day", metrics: []string{"ssd_written_day_bytes", "ssd_write_forecast_bytes", "ssd_write_budget_bytes"}},
		{title: "How old an entry is, at most, that a kill costs", metrics: []string{"ssd_mirror_age"}},
		{title: "Entries in RAM alone after a pass of the mirror", metrics: []string{"ssd_unmirrored"}},
		{title: "Bytes in RAM alone after a pass of the mirror", metrics: []string{"ssd_unmirrored_bytes"}},
		{title: "Percent that the write budget admits", metrics: []string{"ssd_admitted_percent"}},
		{title: "Entries on the SSD", metrics: []string{"ssd_entries"}},
		{title: "Space on the SSD", metrics: []string{"ssd_bytes"}},
		{title: "RAM that the SSD tier takes", metrics: []string{"ssd_index_bytes", "ssd_memory_bytes"}},
	}},
	{"SSD: health", []panel{
		{title: "Faults of the disk", metrics: []string{"ssd_corrupt", "ssd_read_errors", "ssd_write_errors", "ssd_switched_off"}},
		{title: "Reads that a slow disk made misses", metrics: []string{"ssd_read_timeouts", "ssd_reads_rejected"}},
		{title: "In use", metrics: []string{"ssd_online", "ssd_direct", "ssd_kept"}},
		{title: "How the SSD is read (1 pread, 2 libaio, 3 io_uring)", metrics: []string{"ssd_read_engine"}},
		{title: "Segments", metrics: []string{"ssd_segments", "ssd_free_segments"}},
	}},
	{"Shared tier: reads and copies", []panel{
		{title: "Share of reads that the shared tier answers", metrics: []string{"hits", "misses"}, share: "shared_hits"},
		{title: "Answers by tier: all, SSD, shared", metrics: []string{"hits", "ssd_hits", "shared_hits", "shared_misses"}},
		{title: "Time that the shared tier takes to answer", metrics: []string{"shared_read_duration"}},
		{title: "Copies", metrics: []string{"shared_copies", "shared_copies_refused", "shared_copies_dropped", "shared_invalidations"}},
		{title: "Checks of suspect copies", metrics: []string{"shared_checks", "shared_checks_unchanged"}},
		{title: "Read and written there", metrics: []string{"shared_read_bytes", "shared_written_bytes"}},
		{title: "Requests", metrics: []string{"shared_reads", "shared_writes", "shared_compressed"}},
	}},
	{"Shared tier: feed and health", []panel{
		{title: "Age of the servers' last word", metrics: []string{"shared_feed_lag"}},
		{title: "Interruptions of the feed", metrics: []string{"shared_epochs", "shared_reconnects", "shared_moved"}},
		{title: "In use", metrics: []string{"shared_online", "shared_tracking"}},
		{title: "Servers", metrics: []string{"shared_servers", "shared_servers_up", "shared_breakers_open"}},
		{title: "Failures, and what stood in for an answer", metrics: []string{"shared_errors", "shared_stale_served", "shared_breaker_opened"}},
		{title: "Refused", metrics: []string{"shared_foreign_values", "shared_too_large", "shared_conflicts"}},
		{title: "Leases", metrics: []string{"shared_leases_won", "shared_lease_waits", "shared_leases_expired", "shared_leases_lost"}},
	}},
	{"Loads", []panel{
		{title: "Loads", metrics: []string{"loads", "refreshes", "negative_hits"}},
		{title: "Failing loads", metrics: []string{"load_errors", "load_timeouts", "load_panics", "load_store_errors", "refreshes_deferred"}},
		{title: "Answers with expired values", metrics: []string{"stale_served", "stale_on_error", "soft_timeouts"}},
		{title: "Time that loads take", metrics: []string{"load_duration"}},
		{title: "Loads under way", metrics: []string{"loads_active"}},
	}},
	{"Typed values", []panel{
		{title: "Values of another kind", metrics: []string{"mismatches", "decode_errors"}},
		{title: "Values of invalidated tags", metrics: []string{"tag_misses", "tag_evictions", "tag_overflows"}},
		{title: "Namespaces above their quota", metrics: []string{"quota_evictions", "ssd_quota_evicted"}},
		{title: "Answered by a front of decoded values", metrics: []string{"front_hits"}},
	}},
}

// of is chosen with more matchers.
func of(more string) string { return strings.TrimSuffix(chosen, "}") + "," + more + "}" }
