package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/compare"
	"github.com/firncache/firn/bench/report"
	"github.com/firncache/firn/bench/samples"
)

// htmlFile is the name of the report beside the results.
const htmlFile = "report.html"

// runReport writes reports from the results of earlier runs.
func runReport(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench report", flag.ContinueOnError)
	f.SetOutput(stderr)
	in := f.String("in", "results", "`directory` with the results of the suites")
	doc := f.String("doc", "", "`file` for the tables in Markdown (default: none)")
	page := f.String("html", "", "`file` for the report (default: "+htmlFile+" in the directory of -in)")
	images := f.String("svg", "", "`directory` for the main charts (default: none)")
	old := f.String("compare", "", "earlier results of one suite, a JSON `file`, to set beside those in -in")
	if err := f.Parse(args); err != nil {
		return err
	}
	runs, err := loadRuns(*in)
	if err != nil {
		return err
	}
	comparisons, err := comparison(*old, runs, stdout)
	if err != nil {
		return err
	}
	if *page == "" {
		*page = filepath.Join(*in, htmlFile)
	}
	if err := writeHTML(*page, runs, comparisons); err != nil {
		return err
	}
	if *images != "" {
		if err := writeImages(*images, runs); err != nil {
			return err
		}
	}
	if *doc == "" {
		return nil
	}
	var text strings.Builder
	if err := report.Write(&text, runs); err != nil {
		return err
	}
	return os.WriteFile(*doc, []byte(text.String()), 0o644)
}

// loadRuns reads the results that are in a directory, in the order of the
// suites.
func loadRuns(dir string) ([]*samples.Run, error) {
	var runs []*samples.Run
	for _, suite := range suiteNames {
		r, err := samples.Load(filepath.Join(dir, suite+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("-in %s: no results; expected one of %s.json", dir, strings.Join(suiteNames, ".json, "))
	}
	return runs, nil
}

// writeHTML writes the report to a file.
func writeHTML(file string, runs []*samples.Run, comparisons []report.Comparison) error {
	var page strings.Builder
	if err := report.HTML(&page, runs, comparisons); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page.String()), 0o644)
}

// writeImages writes the main charts, each a file.
func writeImages(dir string, runs []*samples.Run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range report.Figures(runs) {
		if f.Main {
			if err := os.WriteFile(filepath.Join(dir, f.ID+".svg"), []byte(chart.Standalone(f.Chart)), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparison sets the results in file beside those of the same suite in runs,
// and prints what changed. No file: nothing.
func comparison(file string, runs []*samples.Run, stdout io.Writer) ([]report.Comparison, error) {
	if file == "" {
		return nil, nil
	}
	old, err := samples.Load(file)
	if err != nil {
		return nil, fmt.Errorf("-compare: %w", err)
	}
	for _, r := range runs {
		if r.Suite != old.Suite {
			continue
		}
		rows, err := compare.Runs(old, r)
		if err != nil {
			return nil, fmt.Errorf("-compare %s: %w", file, err)
		}
		const layout = "2006-01-02 15:04:05 MST"
		if _, err := io.WriteString(stdout, compare.Text(rows)); err != nil {
			return nil, err
		}
		return []report.Comparison{{Suite: r.Suite, Old: old.Started.Format(layout), New: r.Started.Format(layout), Rows: rows}}, nil
	}
	return nil, fmt.Errorf("-compare %s: results of suite %s, of which there are none to compare with", file, old.Suite)
}
