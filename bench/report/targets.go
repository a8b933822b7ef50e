package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// A target is one figure that firn is built to reach.
type target struct {
	what         string
	suite        string
	rival        string         // ratios: the cache to compare with; empty: a value of firn alone
	name         *regexp.Regexp // the names of its samples
	atLeast, aim float64
	unit         string // of a value; ratios have none
	lessIsBetter bool
}

// targets are the RAM rows of the design's table "Numbers to reach".
var targets = []target{
	{what: "Get hit, 1 and 2 goroutines", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^get/(zipf|uniform)/.*goroutines=[12]$`), atLeast: 3, aim: 4},
	{what: "Get miss", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^get/absent/`), atLeast: 3, aim: 4},
	{what: "Set overwrite", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^set/.*goroutines=[12]$`), atLeast: 2, aim: 3},
	{what: "95/5, 1 and 2 goroutines", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^mix/.*goroutines=[12]$`), atLeast: 2.4, aim: 3},
	{what: "64 goroutines, Get", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^get/(zipf|uniform)/.*goroutines=64$`), atLeast: 3, aim: 4},
	{what: "64 goroutines, 95/5", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^mix/.*goroutines=64$`), atLeast: 3, aim: 4},
	{what: "GetMulti of 32 over single Gets", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^getbatch/`), atLeast: 7.5, aim: 10},
	{what: "SetMulti of 32 over single Sets", suite: "ram", rival: "fastcache", name: regexp.MustCompile(`^setbatch/`), atLeast: 5, aim: 7},
	{what: "fastcache's own benchmark, Get", suite: "classic", rival: "fastcache", name: regexp.MustCompile(`^Get/`), atLeast: 3, aim: 4},
	{what: "fastcache's own benchmark, Set", suite: "classic", rival: "fastcache", name: regexp.MustCompile(`^Set/`), atLeast: 2, aim: 3},
	{what: "fastcache's own benchmark, SetGet", suite: "classic", rival: "fastcache", name: regexp.MustCompile(`^SetGet/`), atLeast: 2.5, aim: 3},
	{what: "Get hit over otter", suite: "ram", rival: "otter", name: regexp.MustCompile(`^get/(zipf|uniform)/`), atLeast: 3, aim: 4},
	{what: "Get hit over xsync.Map", suite: "ram", rival: "xsync", name: regexp.MustCompile(`^get/(zipf|uniform)/`), atLeast: 1.2, aim: 1.5},
	{what: "bytes per entry beyond key and value", suite: "memory", name: regexp.MustCompile(`^overhead/`), atLeast: 24, aim: 18, unit: "B", lessIsBetter: true},
	{what: "forced GC above an empty process", suite: "memory", name: regexp.MustCompile(`^forced-gc/`), atLeast: 1, aim: 0, unit: "ms", lessIsBetter: true},
	{what: "slowest single Set under churn", suite: "memory", name: regexp.MustCompile(`^slowest-set/`), atLeast: 5, aim: 1, unit: "ms", lessIsBetter: true},
	{what: "values of 300 KB still readable", suite: "large", name: regexp.MustCompile(`^readable/value=307200$`), atLeast: 100, aim: 100, unit: "%"},
	{what: "values of 1 MB still readable", suite: "large", name: regexp.MustCompile(`^readable/value=1048576$`), atLeast: 100, aim: 100, unit: "%"},
}

// verdict says how a figure compares with its target.
func (t target) verdict(v float64) string {
	sign := 1.0
	if t.lessIsBetter {
		sign = -1
	}
	switch {
	case sign*v >= sign*t.aim:
		return "aim"
	case sign*v >= sign*t.atLeast:
		return "reached"
	}
	return "**missed**"
}

// targets prints each target with what was measured.
func (p *page) targets(all []samples.Sample) {
	p.add("## Numbers to reach\n\n%s", targetsText)
	var rows [][]string
	for _, t := range targets {
		rows = append(rows, t.rows(all)...)
	}
	p.table(2, []string{"what", "cell", "measured", "quartiles", "at least", "aim", ""}, rows)
}

// rows returns a row for each of the target's cells.
func (t target) rows(all []samples.Sample) [][]string {
	if t.rival == "" {
		return t.valueRow(all)
	}
	var rows [][]string
	for _, name := range names(all, t.suite, t.rival) {
		if !t.name.MatchString(name) {
			continue
		}
		r := samples.Ratio(all, t.suite, name, rivals.Firn, t.rival)
		rows = append(rows, []string{
			t.what + over(t), cellName(name), fmt.Sprintf("%.2f×", r.Median), fmt.Sprintf("%.2f–%.2f", r.Low, r.High),
			fmt.Sprintf("%.4g×", t.atLeast), fmt.Sprintf("%.4g×", t.aim), t.verdict(r.Median),
		})
	}
	return rows
}

// over names the rival where the text does not.
func over(t target) string {
	if strings.Contains(t.what, " over ") && t.rival != "fastcache" || strings.Contains(t.what, "fastcache") {
		return ""
	}
	return " (" + t.rival + ")"
}

// valueRow returns the row of a target that firn reaches alone.
func (t target) valueRow(all []samples.Sample) [][]string {
	var values []float64
	for _, s := range samples.Select(all, samples.Filter{Suite: t.suite, Cache: rivals.Firn}) {
		if t.name.MatchString(s.Name) {
			values = append(values, s.Value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	s := samples.SpreadOf(values)
	v := s.Median
	return [][]string{{
		t.what, "", fmt.Sprintf("%.3g %s", v, t.unit), fmt.Sprintf("%.3g–%.3g", s.Low, s.High),
		fmt.Sprintf("%.4g %s", t.atLeast, t.unit), fmt.Sprintf("%.4g %s", t.aim, t.unit), t.verdict(v),
	}}
}

// cellName shortens a sample's name for a table.
func cellName(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "value", "items", "gomaxprocs":
		case "n":
			if len(parts) > 0 && parts[0] == "growth" {
				parts = append(parts, value+" entries")
			}
		case "goroutines":
			parts = append(parts, value+" g")
		default:
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}
