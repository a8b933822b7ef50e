package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/internal/ssd/check"
)

const verifyDescription = `Reads everything in the directory of an SSD tier and checks it: the
superblock, every record of every segment, the segments' lists and trailers,
and the snapshot of the index against the log. Prints a line for each thing
that is wrong, with the file and the offset. Changes nothing. The cache must
not be open.

What is wrong here is no danger to the cache: a safe Open drops what it
cannot trust. But a disk that changes what was written to it is about to
fail.

Exit status: 0 if all is well; 1 if anything is wrong, or reading failed; 2
if the directory is in use or has no files of a cache; 130 after an
interrupt.`

// verifyCommand is "firn verify".
func verifyCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "verify",
		Usage:       "check everything in the directory of an SSD tier",
		ArgsUsage:   "DIR",
		Description: command.Flow(verifyDescription),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print a JSON object per problem, and one of all that was read"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return verify(ctx, cmd, stdout, stderr)
		},
	}
}

func verify(ctx context.Context, cmd *cli.Command, stdout, stderr io.Writer) error {
	dir, fs, err := openDirectory(cmd)
	if err != nil {
		return err
	}
	var read, total atomic.Int64
	stop := command.ShowProgress(stderr, "verifying", func() (string, float64) {
		return humanize.IBytes(uint64(read.Load())) + " read", min(float64(read.Load())/float64(max(total.Load(), 1)), 1)
	})
	asJSON := json.NewEncoder(stdout)
	report := func(p check.Problem) {
		if cmd.Bool("json") {
			_ = asJSON.Encode(p)
		} else {
			fmt.Fprintln(stdout, p)
		}
	}
	start := time.Now()
	v, err := check.Verify(ctx, fs, report, func(v check.Verified) { read.Store(v.Bytes); total.Store(v.Total) })
	stop()
	if err != nil {
		return directoryError(dir, err)
	}
	if cmd.Bool("json") {
		err = asJSON.Encode(v)
	} else {
		_, err = fmt.Fprintln(stdout, verdict(dir, v, time.Since(start)))
	}
	if err == nil && v.Problems > 0 {
		err = command.ReportedError{Status: command.StatusFailed}
	}
	return err
}

// verdict is the last line.
func verdict(dir string, v check.Verified, took time.Duration) string {
	found := "all is well"
	if v.Problems > 0 {
		found = english.Plural(int(v.Problems), "problem", "")
	}
	return fmt.Sprintf("%s: %s; %s, %s, %s of the snapshot checked, %s read in %v", dir, found,
		english.Plural(int(v.Segments), "segment", ""), counting(v.Records, "record"), counting(v.Entries, "entry"),
		humanize.IBytes(uint64(v.Bytes)), took.Round(time.Millisecond))
}

// counting is a number with separators and the things it counts.
func counting(n int64, what string) string {
	return humanize.Comma(n) + " " + english.PluralWord(int(n), what, "")
}
