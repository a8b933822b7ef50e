package command

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

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay"
)

// ListRivals is the value of -rival that prints the names of the rivals.
const ListRivals = "list"

// Rivals is the program that replays workloads through one of several caches,
// chosen by -rival NAME. It takes the flags of firn replay, prints one JSON
// object per trace on stdout, and returns the exit status. args are those behind
// the program's name.
func Rivals(args []string, stdout, stderr io.Writer, rivals map[string]replay.OpenFunc) int {
	const program = "bench/replay"
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := &cli.Command{
		Name:      program,
		Usage:     "run requests through a rival of firn and print the figures as JSON",
		ArgsUsage: "[TRACE...]",
		Flags: append(Flags(), &cli.StringFlag{
			Name: "rival", Usage: "`NAME` of the cache, or list for their names",
		}),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return replayRival(ctx, cmd, stdout, stderr, rivals)
		},
	}
	return Main(ctx, cmd, append([]string{program}, args...), stdout, stderr)
}

// Main runs cmd with args, the first of which is the program's name, and
// returns the exit status: errors are one line on stderr, and nothing exits.
func Main(ctx context.Context, cmd *cli.Command, args []string, stdout, stderr io.Writer) int {
	cmd.Writer, cmd.ErrWriter = stdout, stderr
	cmd.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	setUsageErrors(cmd)
	return Status(cmd.Name, cmd.Run(ctx, args), stderr)
}

// setUsageErrors makes flag errors of cmd and its subcommands usage errors.
func setUsageErrors(cmd *cli.Command) {
	cmd.OnUsageError = func(_ context.Context, _ *cli.Command, err error, _ bool) error { return Usage(err) }
	for _, sub := range cmd.Commands {
		setUsageErrors(sub)
	}
}

func replayRival(ctx context.Context, cmd *cli.Command, stdout, stderr io.Writer, rivals map[string]replay.OpenFunc) error {
	names := slices.Sorted(maps.Keys(rivals))
	name := cmd.String("rival")
	if name == ListRivals {
		_, err := fmt.Fprintln(stdout, strings.Join(names, "\n"))
		return err
	}
	open, ok := rivals[name]
	if !ok {
		return usage("-rival %q: expected one of %s", name, strings.Join(names, ", "))
	}
	o, err := ParseOptions(cmd)
	if err != nil {
		return err
	}
	out := json.NewEncoder(stdout)
	for _, trace := range o.Workloads() {
		ram, err := o.Budget(ctx, trace, stderr)
		if err != nil {
			return err
		}
		result, err := o.Replay(ctx, trace, name, ram, open, stderr)
		if err != nil {
			return err
		}
		if err := out.Encode(result); err != nil {
			return err
		}
		if result.Interrupted {
			return ErrInterrupted
		}
	}
	return nil
}
