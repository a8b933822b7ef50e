// Package against replays workloads and traces through firn and through its
// rivals, in the loop of `firn replay`, and sets the figures side by side. Each
// cache is alone in a process: this program, called with -rival.
package against

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/cmd/firn/replay/report"
)

// Name is the program's subcommand.
const Name = "replay"

// list is the value of -against and -rival that prints the names of the rivals.
const list = "list"

const description = `Replays the same workload, under the same budget of RAM, through firn and
through the caches that -against names, and reports on all of them. A TRACE and
the flags are those of "firn replay"; there is no SSD tier, because the rivals
have none. Without a trace the requests are generated, 30 million of them.

-rival NAME runs one cache alone and prints a line of JSON for each trace.

Exit status: 0; 1 if a run failed; 2 for bad flags and broken traces; 130 after
an interrupt, which reports the figures so far.`

// Main runs the program with args, which are those behind its name, and returns
// the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	return program{stores(), stdout, stderr}.main(args)
}

// program is the command with the caches that it knows.
type program struct {
	stores         map[string]replay.OpenFunc
	stdout, stderr io.Writer
}

func (p program) main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	const name = "bench " + Name
	cmd := &cli.Command{
		Name:        name,
		Usage:       "run requests through firn and its rivals and compare",
		ArgsUsage:   "[TRACE...]",
		Description: description,
		Flags: append(command.Flags(),
			&cli.StringSliceFlag{Name: "against", Value: []string{"fastcache", "otter"}, Usage: "the rivals, `NAME,...`; list prints the names"},
			&cli.StringFlag{Name: "rival", Usage: "run the cache `NAME` alone"},
			&cli.StringFlag{Name: "json", Usage: "write the figures as JSON to `FILE`; - is stdout, in place of the table"},
		),
		Action: p.run,
	}
	return command.Main(ctx, cmd, append([]string{name}, args...), p.stdout, p.stderr)
}

func (p program) run(ctx context.Context, cmd *cli.Command) error {
	names, name := cmd.StringSlice("against"), cmd.String("rival")
	if name == list || slices.Contains(names, list) {
		_, err := fmt.Fprintln(p.stdout, strings.Join(p.known(), "\n"))
		return err
	}
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		if p.stores[n] == nil {
			return command.Usage(fmt.Errorf("%q is no cache: expected names out of %s", n, strings.Join(p.known(), ", ")))
		}
	}
	o, err := command.ParseOptions(cmd)
	switch {
	case err != nil:
		return err
	case name != "":
		return p.alone(ctx, &o, name)
	}
	return p.compare(ctx, &o, names, cmd.String("json"))
}

// known are the names of the caches.
func (p program) known() []string { return slices.Sorted(maps.Keys(p.stores)) }

// alone replays the traces through one cache, and prints a line of JSON for each.
func (p program) alone(ctx context.Context, o *command.Options, name string) error {
	out := json.NewEncoder(p.stdout)
	for _, trace := range o.Workloads() {
		ram, err := o.Budget(ctx, trace, p.stderr)
		if err != nil {
			return err
		}
		result, err := o.Replay(ctx, trace, name, ram, p.stores[name], p.stderr)
		if err != nil {
			return err
		}
		if err := out.Encode(result); err != nil {
			return err
		}
		if result.Interrupted {
			return command.ErrInterrupted
		}
	}
	return nil
}

// compare replays the traces through firn and the named rivals, and reports, as
// JSON to the file at path if there is to be one.
func (p program) compare(ctx context.Context, o *command.Options, names []string, path string) (err error) {
	out, closeFile, err := command.OpenJSON(path, p.stdout)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := closeFile(); err == nil {
			err = closeErr
		}
	}()
	for _, trace := range o.Workloads() {
		result, err := replayAll(ctx, o, trace, names, p.stderr)
		if err != nil {
			return err
		}
		if path != "-" {
			report.Table(p.stdout, &result, table.StyleLight)
		}
		if err := out.Encode(result); err != nil {
			return err
		}
		if interrupted(&result) {
			return command.ErrInterrupted
		}
	}
	return nil
}

// interrupted tells whether the run of any cache was.
func interrupted(result *replay.Result) bool {
	return result.Interrupted || slices.ContainsFunc(result.Against, func(r replay.Result) bool { return r.Interrupted })
}
