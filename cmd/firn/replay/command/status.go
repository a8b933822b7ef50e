package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/workload"
)

// The exit statuses of the programs.
const (
	StatusOK          = 0
	StatusFailed      = 1   // the run failed
	StatusUsage       = 2   // bad input: flags, sizes, formats, traces
	StatusInterrupted = 130 // ended by an interrupt, with the figures so far
)

// errUsage marks an error of the flags; it adds nothing to the message.
var errUsage = silent{}

type silent struct{}

func (silent) Error() string { return "" }

// Usage marks err as one of bad input.
func Usage(err error) error { return fmt.Errorf("%w%w", errUsage, err) }

// ErrInterrupted ends a command that was interrupted and has reported.
var ErrInterrupted = errors.New("interrupted")

// ReportedError ends a command with a status after a message was printed.
type ReportedError struct{ Status int }

func (e ReportedError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// Status prints err, if there is something to print, as one line that begins
// with the program's name, and returns the exit status it stands for.
func Status(program string, err error, stderr io.Writer) int {
	if err == nil {
		return StatusOK
	}
	if reported, ok := errors.AsType[ReportedError](err); ok {
		return reported.Status
	}
	fmt.Fprintf(stderr, "%s: %s\n", program, strings.ReplaceAll(err.Error(), "\n", "; "))
	_, isTrace := errors.AsType[*workload.TraceError](err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, ErrInterrupted):
		return StatusInterrupted
	case errors.Is(err, errUsage), errors.Is(err, workload.ErrFormat), errors.Is(err, replay.ErrOpen), isTrace, isPath:
		return StatusUsage
	}
	return StatusFailed
}
