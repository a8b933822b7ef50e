package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/firncache/firn/cmd/firn/replay/command"
)

// spool copies stdin to a temporary file if it is among the traces: a budget that is a share of a
// trace reads that twice. remove comes last.
func spool(ctx context.Context, o *command.Options, stdin io.Reader) (remove func() error, err error) {
	if !slices.Contains(o.Traces, command.Stdin) {
		return func() error { return nil }, nil
	}
	dir, err := temporary.make("firn-replay-")
	remove = func() error { return temporary.remove(dir) }
	if err != nil {
		return remove, fmt.Errorf("a file for stdin: %w", err)
	}
	o.StdinFile = filepath.Join(dir, "stdin")
	file, err := os.Create(o.StdinFile)
	if err != nil {
		return remove, err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, stdin)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done(): // stdin may give nothing for as long as it likes
		return remove, command.ErrInterrupted
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return remove, err
}
