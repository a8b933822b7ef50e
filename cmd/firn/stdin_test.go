package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/firncache/firn/cmd/firn/replay/command"
)

// The trace - is what stdin has, read as often as a replay needs it; afterwards no file is left.
func TestReplayStdin(t *testing.T) {
	t.Parallel()
	trace, err := os.ReadFile(writeTrace(t, "some.trc", 1000, 100))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := replayCommand(&out, &errs)
	cmd.Reader = bytes.NewReader(trace)
	if status := command.Main(context.Background(), cmd, []string{"replay", "-fraction", "6", "-goroutines", "1", "-"}, &out, &errs); status != 0 {
		t.Fatalf("status %d, %s", status, &errs)
	}
	if got := out.String(); !strings.HasPrefix(got, "stdin: 1,000 reads") || !strings.Contains(got, "90.0 %") {
		t.Errorf("got\n%s", got)
	}
}

// An error of what stdin has says stdin, not the file that it was copied to.
func TestReplayBadStdin(t *testing.T) {
	t.Parallel()
	for stdin, want := range map[string]string{"": "replay: stdin: offset 0 (arc): the trace is empty\n", "1 1 0 1\nx\n": "replay: stdin: line 2, offset 8 (arc): "} {
		for _, ram := range []string{"-ram=1MiB", "-fraction=2"} {
			var out, errs bytes.Buffer
			cmd := replayCommand(&out, &errs)
			cmd.Reader = strings.NewReader(stdin)
			status := command.Main(context.Background(), cmd, []string{"replay", ram, "-format", "arc", "-"}, &out, &errs)
			if status != 2 || !strings.HasPrefix(errs.String(), want) {
				t.Errorf("%q: status %d, %s, want %s", stdin, status, &errs, want)
			}
		}
	}
}

func TestSpool(t *testing.T) {
	t.Parallel()
	o := command.Options{Traces: []string{"a", command.Stdin}}
	remove, err := spool(context.Background(), &o, strings.NewReader("key"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(o.StdinFile); err != nil || string(got) != "key" {
		t.Errorf("the file has %q, %v", got, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(o.StdinFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}

	silent, _ := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	remove, err = spool(ctx, &o, silent)
	if !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("%v, want an interrupt not to wait for stdin", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	o = command.Options{Traces: []string{"a"}}
	if _, err := spool(context.Background(), &o, nil); err != nil || o.StdinFile != "" {
		t.Errorf("%q, %v: want no file without the trace -", o.StdinFile, err)
	}
}
