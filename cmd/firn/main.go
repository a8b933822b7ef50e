// Firn runs workloads through a cache and reports what comes back, and looks at
// the files of an SSD tier.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay/command"
)

func main() {
	status := attend(notify(), func(ctx context.Context) int {
		return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}, temporary.removeAll)
	os.Exit(status)
}

// run executes the command line behind the program's name and returns the exit
// status. Subcommands are one file each.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cli.Command{
		Name:    "firn",
		Usage:   "a cache for bytes, at work",
		Version: version(),
		Commands: []*cli.Command{
			replayCommand(stdout, stderr), planCommand(stdout), inspectCommand(stdout, stderr), verifyCommand(stdout, stderr),
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Args().Present() {
				return command.Usage(fmt.Errorf("%q is no command: firn -help lists them", cmd.Args().First()))
			}
			return cli.ShowRootCommandHelp(cmd)
		},
	}
	return command.Main(ctx, root, append([]string{"firn"}, args...), stdout, stderr)
}

// version is what this command was built of: a release, or a commit of a clone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown, " + runtime.Version()
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return fmt.Sprintf("%s, %s, %s/%s", v, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
