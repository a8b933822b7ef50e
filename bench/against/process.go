package against

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
)

// grace is how long an interrupted process has to report before it is killed.
const grace = 10 * time.Second

// replayAll replays a trace through firn, and then through the named rivals until
// one is interrupted.
func replayAll(ctx context.Context, o *command.Options, trace string, names []string, stderr io.Writer) (replay.Result, error) {
	ram, err := o.Budget(ctx, trace, stderr)
	if err != nil {
		return replay.Result{}, err
	}
	args := o.Args(trace, ram)
	result, err := replayIn(ctx, rivals.Firn, args, stderr)
	for _, name := range names {
		if err != nil || interrupted(&result) {
			break
		}
		var rival replay.Result
		rival, err = replayIn(ctx, name, args, stderr)
		result.Against = append(result.Against, rival)
	}
	return result, err
}

// replayIn replays through one cache in a process of its own. An interrupt is
// passed on, and is no error: the process reports what it has.
func replayIn(ctx context.Context, name string, args []string, stderr io.Writer) (result replay.Result, err error) {
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{Name, "-rival", name}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	cmd.Stderr = stderr
	output, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return result, command.ReportedError{Status: exit.ExitCode()}
	}
	switch {
	case len(output) > 0:
		err = json.Unmarshal(output, &result)
	case ctx.Err() != nil: // ended before it had any
		err = command.ErrInterrupted
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return result, err
}
