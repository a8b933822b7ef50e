package command

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"
)

// Main runs cmd with args, which begin with the program's name, and
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
