package main

// row is a headline and the panels below it.
type row struct {
	title  string
	panels []panel
}

// panel is a graph. Its lines are metrics of one unit, either all counters or
// all gauges; or one expression of its own.
type panel struct {
	title   string
	metrics []string // as firn.Metrics names them
	share   string   // of this counter in the sum of the metrics; then that is the only line
}

// rows are the dashboard. Metrics that no panel names get panels at its end.
var rows = []row{
	{"Reads and writes", []panel{
		{title: "Hit ratio", metrics: []string{"hits", "misses"}, share: "hits"},
		{title: "Reads", metrics: []string{"hits", "misses"}},
		{title: "Writes", metrics: []string{"sets", "deletes"}},
	}},
	{"Memory", []panel{
		{title: "RAM", metrics: []string{"ram_bytes", "ram_used_bytes", "ram_resident_bytes"}},
		{title: "What the RAM holds", metrics: []string{"record_bytes", "index_bytes", "overhead_bytes"}},
		{title: "Entries", metrics: []string{"entries"}},
	}},
	{"What leaves, and what stays", []panel{
		{title: "Leaving", metrics: []string{"evictions", "expirations"}},
		{title: "Kept", metrics: []string{"reinsertions"}},
		{title: "Probation and main", metrics: []string{"small_bytes", "main_bytes"}},
	}},
	{"Typed values", []panel{
		{title: "Values of another kind", metrics: []string{"mismatches", "decode_errors"}},
	}},
}
