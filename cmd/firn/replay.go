package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/internal/curve"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/cmd/firn/replay/report"
)

const replayDescription = `Reads each key of the workload from a cache and, after a miss, writes its
value; then reports which tier answered, throughput, latency and memory, and how
many reads would have missed with other amounts of RAM. -details has all figures.

A TRACE is a file of requests, or - for stdin, plain or compressed with gzip or
zstd, in one of the formats that -format names; it is detected otherwise. Several
traces are replayed one after another, each through a cache of its own.
Without a trace the requests are generated: 3 million reads of popular keys
(zipf 0.99 of a million) broken by scans, with values of 32 bytes to 64 KiB,
some of which expire; 30 million without an SSD tier. -limit changes their
number. A slow disk does not get through all of them: the run ends after 15
seconds, which -time changes, and says what share it did.

-ssd puts a tier on SSD below RAM, in the directory that -dir names or in a
temporary one. Without a trace there is one of 512 MiB that takes everything
(it writes up to 2 GiB), unless -ssd 0 is given, -fraction, or less than
1 MiB of RAM. With an SSD tier, -goroutines is 16 or more by
default, so that several reads of the disk are under way at once; a request
that waits for one is among the latencies.

-live shows the cache on a page while the requests run. Afterwards the
report is printed, and the page stays until an interrupt, the caches of all
traces open and their memory taken. Who asks before there is a cache waits.
The page has neither keys nor values, and no password. The loop makes no
loads: it sets what it misses.

-json writes one JSON object per trace, one per line.

Exit status: 0; 1 if the run failed; 2 for bad flags and broken traces; 130
after an interrupt (Ctrl-C, SIGTERM, SIGHUP) during the run, which reports the
figures so far; a second one ends the program at once. No temporary file stays behind.`

// replayCommand is "firn replay".
func replayCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "replay",
		Usage:       "run requests through a cache and report",
		ArgsUsage:   "[TRACE...]",
		Description: command.Flow(replayDescription),
		Flags: slices.Concat(command.Flags(), command.SSDFlags(), []cli.Flag{
			&cli.StringFlag{Name: "live", Usage: "show the cache in a browser, at `ADDR` such as :8080, for this machine alone if there is no host (0.0.0.0:8080 is for all), until an interrupt"},
			&cli.BoolFlag{Name: "details", Usage: "report all figures, in tables"},
			&cli.StringFlag{Name: "json", Usage: "write the figures as JSON to `FILE`; - is stdout, in place of the table"},
		}),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			r := replayer{stdout: stdout, stderr: stderr}
			return r.run(ctx, cmd)
		},
	}
}

// replayer carries out one "firn replay".
type replayer struct {
	stdout, stderr io.Writer
	options        command.Options
	json           *json.Encoder
	table          bool // report on stdout
	details        bool // all figures
	page           *livePage
}

func (r *replayer) run(ctx context.Context, cmd *cli.Command) (err error) {
	if r.options, err = command.ParseOptions(cmd); err != nil {
		return err
	}
	if err := r.options.ParseSSD(cmd); err != nil {
		return err
	}
	r.options.SetDefaultTime(cmd)
	if r.page, err = openPage(cmd.String("live"), r.stderr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.page.close()) }()
	path := cmd.String("json")
	r.table, r.details = path != "-", cmd.Bool("details")
	var closeJSON func() error
	if r.json, closeJSON, err = command.OpenJSON(path, r.stdout); err != nil {
		return err
	}
	remove, err := spool(ctx, &r.options, cmd.Root().Reader)
	defer func() { err = errors.Join(err, remove()) }()
	if err != nil {
		return err
	}
	for _, trace := range r.options.Workloads() {
		if err = r.replay(ctx, trace); err != nil {
			break
		}
	}
	if closeErr := closeJSON(); err == nil {
		err = closeErr
	}
	if err == nil {
		r.page.stay(ctx)
	}
	return err
}

// replay runs one trace through firn, and reports.
func (r *replayer) replay(ctx context.Context, trace string) error {
	ram, err := r.options.Budget(ctx, trace, r.stderr)
	if err != nil {
		return err
	}
	result, err := r.firn(ctx, trace, ram)
	if err != nil && !errors.Is(err, replay.ErrWrongValue) {
		return err
	}
	if result.Rejected == result.Requests && !result.Interrupted {
		return command.Usage(fmt.Errorf("%s: no value fits a cache of %s: it takes keys and values of up to a quarter of that",
			result.Trace, humanize.IBytes(uint64(ram))))
	}
	if r.table {
		r.print(&result)
	}
	if jsonErr := r.json.Encode(result); err == nil {
		err = jsonErr
	}
	if err == nil && result.Interrupted {
		err = command.ErrInterrupted
	}
	return err
}

// print reports on stdout: in a few lines, or with -details all there is.
func (r *replayer) print(result *replay.Result) {
	style := command.StyleOf(r.stdout)
	report.Summary(r.stdout, result, style.Room())
	fmt.Fprintln(r.stdout)
	if r.details {
		report.Table(r.stdout, result, style.Table())
		fmt.Fprintln(r.stdout)
		curve.Table(r.stdout, &curve.Named{Curve: *result.Curve}, style)
		return
	}
	curve.Chart(r.stdout, result.Curve, style)
	curve.Prose(r.stdout, report.Hints, style)
}

// firn runs one trace through firn.
func (r *replayer) firn(ctx context.Context, trace string, ram int64) (result replay.Result, err error) {
	log := slog.New(slog.NewTextHandler(r.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	dir, err := makeDirectory(r.options.SSD, r.stderr)
	defer func() { err = errors.Join(err, r.page.keep(dir.remove)) }()
	if err != nil {
		return result, err
	}
	open := command.OpenFirn(dir.options, dir.temporary, log)
	result, err = r.options.Replay(ctx, trace, "firn", ram, r.page.show(trace, open), r.stderr)
	if result.SSD != nil && dir.temporary {
		result.SSD.Dir = ""
	}
	return result, err
}
