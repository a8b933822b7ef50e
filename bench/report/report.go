// Package report writes docs/BENCHMARKS.md and a page with charts from the
// results of the suites.
package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/samples"
)

// Write prints the document on the given runs, at most one of each suite. What
// has no results is left out.
func Write(w io.Writer, runs []*samples.Run) error {
	var b strings.Builder
	b.WriteString(intro)
	for _, r := range runs {
		b.WriteString(section(r))
	}
	b.WriteString(versions(runs))
	_, err := io.WriteString(w, b.String())
	return err
}

// section has the tables of one suite, below the machine and the command.
func section(r *samples.Run) string {
	var b strings.Builder
	for _, t := range tables {
		if rows := t.render(r.Samples); t.suite == r.Suite && len(rows) > 0 {
			text := strings.TrimSpace("**" + t.question + "** " + t.text)
			if t.chart != "" {
				text += " [Chart](img/" + t.chart + ".svg)."
			}
			fmt.Fprintf(&b, "%s\n%s\n", text, markdown(t.head(), rows))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	head := fmt.Sprintf("## %s\n\n`%s`, %s, %s, %s.\n\n", titles[r.Suite], command(r), r.Started.Format("2006-01-02"), machine(r.Machine), noise(r.Noise))
	for _, note := range r.Notes {
		head += note + "\n\n"
	}
	return head + b.String()
}

var unimportant = regexp.MustCompile(` -(out|n|repeats) \S+`)

// command repeats a suite, and is short: where the results go is the reader's
// business.
func command(r *samples.Run) string { return unimportant.ReplaceAllString(r.Command, "") }

var trademarks = strings.NewReplacer("(R)", "", " Processor", "", " CPU", "")

// machine names its processor, memory and Go version.
func machine(m samples.Machine) string {
	return fmt.Sprintf("%s, %d processors, %.0f GiB, %s", orUnknown(trademarks.Replace(m.CPU)), m.Procs, m.MemoryGiB, m.Go)
}

// noise says whether others used the machine.
func noise(n *samples.Noise) string {
	switch {
	case n == nil:
		return "not known what else it did"
	case n.Noisy():
		return fmt.Sprintf("**busy: others took %.0f %%**", n.Others+n.Steal)
	}
	return "quiet"
}

// versions lists the modules that took part. One of which the suites had several
// is there with each.
func versions(runs []*samples.Run) string {
	var list []string
	for _, r := range runs {
		for name, version := range r.Versions {
			if strings.HasPrefix(version, "v") {
				list = append(list, name+" "+strings.TrimSuffix(version, "+incompatible"))
			}
		}
	}
	slices.Sort(list)
	return "Versions: " + strings.Join(slices.Compact(list), ", ") + "; their configurations: [rivals](../bench/rivals), [users](../bench/users/rivals.go), [hybrid](../bench/hybrid).\n"
}

// markdown prints a table whose first column is aligned left, and the others
// right.
func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-1))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// explains matches notes on how a suite measures, which the page with charts
// has. The others name the parts missing from this run.
var explains = regexp.MustCompile(`^(Errors are|Entries of|Bytes read|Restarts:|FasterKvCache|Device:|Each trace|Values whose|2Q, ARC)`)

// Shown is the run with no more than the document shows of it, as medians: the part kept
// beside that.
func Shown(r *samples.Run) *samples.Run {
	shown := *r
	shown.Logs = nil
	shown.Notes = slices.DeleteFunc(slices.Clone(r.Notes), explains.MatchString)
	shown.Samples = nil
	for _, s := range r.Samples {
		if slices.ContainsFunc(tables, func(t table) bool { return t.suite == r.Suite && t.shows(s) }) {
			shown.Samples = append(shown.Samples, s)
		}
	}
	shown.Samples = samples.Medians(shown.Samples)
	return &shown
}

// bracketed returns the setting that the kernel marks with brackets.
func bracketed(s string) string {
	if _, rest, ok := strings.Cut(s, "["); ok {
		s, _, _ = strings.Cut(rest, "]")
	}
	return s
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
