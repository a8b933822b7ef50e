package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
)

// rivals is the program of the bench module that replays through other caches.
type rivals struct {
	names  []string
	dir    string // temporary; holds the program
	stderr io.Writer
}

// patience is how long an interrupted rival has to report before it is killed.
const patience = 10 * time.Second

const rivalsHint = "it needs the go tool and a clone of the source: " +
	"git clone https://github.com/firncache/firn && cd firn && go run ./cmd/firn replay -against NAME,..."

// findRivals builds the bench module's program and checks that it knows names.
// If they ask for the list of names, it prints that and returns nil.
func findRivals(ctx context.Context, names []string, stdout, stderr io.Writer) (*rivals, error) {
	bench, err := benchDir()
	if err != nil {
		return nil, command.Usage(fmt.Errorf("-against: %w; %s", err, rivalsHint))
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, command.Usage(fmt.Errorf("-against: %w; %s", err, rivalsHint))
	}
	dir, err := temporary.make("firn-rivals-")
	if err != nil {
		return nil, err
	}
	r := &rivals{names: names, dir: dir, stderr: stderr}
	if err := r.prepare(ctx, goTool, bench, stdout); err != nil {
		r.close()
		return nil, err
	}
	if slices.Contains(names, command.ListRivals) {
		r.close()
		return nil, nil
	}
	return r, nil
}

func (r *rivals) close() { _ = temporary.remove(r.dir) }

func (r *rivals) program() string { return filepath.Join(r.dir, "replay.exe") }

// prepare builds the program and checks the names.
func (r *rivals) prepare(ctx context.Context, goTool, bench string, stdout io.Writer) error {
	build := exec.CommandContext(ctx, goTool, "build", "-o", r.program(), "./replay")
	build.Dir = bench
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("-against: building the rivals in %s: %w: %s", bench, err, bytes.TrimSpace(output))
	}
	list, err := r.output(ctx, "-rival", command.ListRivals)
	if err != nil {
		return err
	}
	known := strings.Fields(string(list))
	for _, name := range r.names {
		if name == command.ListRivals {
			_, err := stdout.Write(list)
			return err
		}
		if !slices.Contains(known, name) {
			return command.Usage(fmt.Errorf("-against %q: expected names out of %s", name, strings.Join(known, ", ")))
		}
	}
	return nil
}

// replay runs a trace through each rival under a budget of ram bytes. What the
// rivals print on stderr is passed on.
func (r *rivals) replay(ctx context.Context, o *command.Options, trace string, ram int64) ([]replay.Result, error) {
	var results []replay.Result
	for _, name := range r.names {
		output, err := r.output(ctx, append([]string{"-rival", name}, o.Args(trace, ram)...)...)
		var result replay.Result
		if len(output) > 0 {
			if err := json.Unmarshal(output, &result); err != nil {
				return results, fmt.Errorf("-against %s: the figures of the rival: %w", name, err)
			}
			results = append(results, result)
		}
		if err != nil {
			return results, err
		}
		if result.Interrupted {
			break
		}
	}
	return results, nil
}

// output runs the program and returns what it prints on stdout. An interrupt
// is passed on, and is no error: the program reports what it has.
func (r *rivals) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.program(), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	cmd.Stderr = r.stderr
	output, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return output, command.ReportedError{Status: exit.ExitCode()}
	}
	if ctx.Err() != nil {
		err = nil
	}
	return output, err
}

// moduleLine is the line of go.mod by which the source of firn is known.
var moduleLine = regexp.MustCompile(`(?m)^module github\.com/firncache/firn\s*$`)

// benchDir finds the bench module: in the directory bench beside the go.mod of
// firn, in the working directory or above it.
func benchDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleLine.Match(mod) {
			bench := filepath.Join(dir, "bench")
			if _, err := os.Stat(filepath.Join(bench, "replay")); err != nil {
				return "", fmt.Errorf("no bench module beside %s", filepath.Join(dir, "go.mod"))
			}
			return bench, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no source of firn at %s or above it", start)
		}
	}
}
