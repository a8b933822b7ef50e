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

	"github.com/firncache/firn/bench/report"
	"github.com/firncache/firn/bench/samples"
)

// runReport writes the tables from the results of earlier runs.
func runReport(args []string, stderr io.Writer) error {
	f := flag.NewFlagSet("bench report", flag.ContinueOnError)
	f.SetOutput(stderr)
	in := f.String("in", "results", "`directory` with the results of the suites")
	doc := f.String("doc", "../docs/BENCHMARKS.md", "`file` to write")
	if err := f.Parse(args); err != nil {
		return err
	}
	var runs []*samples.Run
	for _, suite := range suiteNames {
		r, err := samples.Load(filepath.Join(*in, suite+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return fmt.Errorf("-in %s: no results; expected one of %s.json", *in, strings.Join(suiteNames, ".json, "))
	}
	var text strings.Builder
	if err := report.Write(&text, runs); err != nil {
		return err
	}
	return os.WriteFile(*doc, []byte(text.String()), 0o644)
}
