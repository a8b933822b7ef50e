package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/report"
	"github.com/firncache/firn/bench/samples"
)

// htmlFile is the name of the page with charts beside the results.
const htmlFile = "report.html"

// runReport writes reports from the results of earlier runs.
func runReport(args []string, stderr io.Writer) error {
	f := flag.NewFlagSet("bench report", flag.ContinueOnError)
	f.SetOutput(stderr)
	in := f.String("in", "", "`directory` with new results of some suites (default: none)")
	doc := f.String("doc", "", "`file` for the tables in Markdown, made from the results in the directory bench beside it, of which those in -in replace the ones of the same suite (default: none)")
	readme := f.String("readme", "", "`file` with a part for one table, which is made from what lies beside -doc (default: none)")
	page := f.String("html", "", "`file` for the page with charts (default: "+htmlFile+" in the directory of -in)")
	images := f.String("svg", "", "`directory` for the main charts (default: none)")
	if err := f.Parse(args); err != nil {
		return err
	}
	var runs []*samples.Run
	if *in != "" || *doc == "" {
		var err error
		if runs, err = loadRuns(*in, ".json", samples.Load); err != nil {
			return err
		}
		if *page == "" {
			*page = filepath.Join(*in, htmlFile)
		}
		if err := writeFile(*page, func(w io.Writer) error { return report.HTML(w, runs) }); err != nil {
			return err
		}
	}
	if *images != "" {
		if err := writeImages(*images, runs); err != nil {
			return err
		}
	}
	if *doc == "" {
		if *readme != "" {
			return errors.New("-readme: expected -doc, too")
		}
		return nil
	}
	if err := writeDoc(*doc, runs); err != nil || *readme == "" {
		return err
	}
	return writeReadme(*readme, *doc)
}

// writeReadme replaces the marked part of a file.
func writeReadme(readme, doc string) error {
	body, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	var runs []*samples.Run
	for _, suite := range report.ReadmeSuites {
		r, err := samples.ReadText(filepath.Join(figuresOf(doc), suite+".txt"))
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	text, err := report.ReplaceTable(string(body), runs)
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return os.WriteFile(readme, []byte(text), 0o644)
}

// figuresOf is the directory with the figures of a document.
func figuresOf(doc string) string { return filepath.Join(filepath.Dir(doc), "bench") }

// writeDoc keeps the samples that the document shows beside it, and writes it
// from all that lies there. Results of a small run do not replace others.
func writeDoc(doc string, runs []*samples.Run) error {
	dir := figuresOf(doc)
	for _, r := range runs {
		shown := report.Shown(r)
		if len(shown.Samples) == 0 {
			continue
		}
		file := filepath.Join(dir, r.Suite+".txt")
		if kept, err := samples.ReadText(file); err == nil && kept.Entries > r.Entries {
			return fmt.Errorf("%s has %d entries: results with %d do not replace it", file, kept.Entries, r.Entries)
		}
		if err := shown.SaveText(dir); err != nil {
			return err
		}
	}
	all, err := loadRuns(dir, ".txt", samples.ReadText)
	if err != nil {
		return err
	}
	return writeFile(doc, func(w io.Writer) error { return report.Write(w, all) })
}

// loadRuns reads the results that are in a directory, in the order of the
// suites.
func loadRuns(dir, extension string, read func(file string) (*samples.Run, error)) ([]*samples.Run, error) {
	var runs []*samples.Run
	for _, suite := range suiteNames {
		r, err := read(filepath.Join(dir, suite+extension))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("directory %q: no results; expected one of %s%s", dir, strings.Join(suiteNames, extension+", "), extension)
	}
	return runs, nil
}

// writeFile writes all that write prints, or nothing.
func writeFile(file string, write func(io.Writer) error) error {
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
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

// compare lets benchstat set an earlier run of a suite beside the one in dir.
func compare(old, dir string, stdout, stderr io.Writer) error {
	old = strings.TrimSuffix(old, ".json")
	old = strings.TrimSuffix(old, ".txt") + ".txt"
	now := filepath.Join(dir, filepath.Base(old))
	for _, file := range []string{old, now} {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("-compare: %w; expected two runs of one suite", err)
		}
	}
	cmd := exec.Command("go", "tool", "benchstat", "old="+old, "new="+now)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd.Run()
}
