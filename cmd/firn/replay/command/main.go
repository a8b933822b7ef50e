package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// Main runs cmd with args, which begin with the program's name, and
// returns the exit status: errors are one line on stderr, and nothing exits.
func Main(ctx context.Context, cmd *cli.Command, args []string, stdout, stderr io.Writer) int {
	cmd.Writer, cmd.ErrWriter = stdout, stderr
	cmd.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	setUsageErrors(cmd)
	err := cmd.Run(ctx, args)
	if _, ok := errors.AsType[cli.ExitCoder](err); ok { // the library's, of "help" with what is no command
		err = Usage(fmt.Errorf("%w: %s -help lists them", err, cmd.Name))
	}
	return Status(cmd.Name, err, stderr)
}

// setUsageErrors makes flag errors of cmd and its subcommands usage errors.
func setUsageErrors(cmd *cli.Command) {
	cmd.OnUsageError = func(_ context.Context, cmd *cli.Command, err error, _ bool) error { return Usage(withHint(cmd, err)) }
	for _, sub := range cmd.Commands {
		setUsageErrors(sub)
	}
}

// withHint adds to an error of a flag which flag may be meant, and where all are.
func withHint(cmd *cli.Command, err error) error {
	wrong, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return fmt.Errorf("%w: %s -help lists the flags", err, cmd.FullName())
	}
	hint := ""
	if meant := strings.TrimLeft(cli.SuggestFlag(cmd.Flags, wrong, cmd.HideHelp), "-"); alike(wrong, meant) {
		hint = " (did you mean -" + meant + "?)"
	}
	return fmt.Errorf("no flag -%s%s: %s -help lists them", wrong, hint, cmd.FullName())
}

// alike reports whether a flag may be a misspelt other one: they begin alike.
func alike(a, b string) bool { return a != "" && b != "" && a[0] == b[0] }
