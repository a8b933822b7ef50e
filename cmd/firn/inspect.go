package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/internal/ssd/check"
	"github.com/firncache/firn/internal/vfs"
)

const inspectDescription = `Shows what the directory of an SSD tier holds, without reading values and
without changing anything: what the superblock says, whether the cache was
closed, what the next Open would do, whether the index of a cache that was
not closed is still in memory, the segments with their serial numbers and how
full they are, how much of them may be live, the snapshot of the index.

A cache may have the directory open: the output says "in use" then, and may
show files in the middle of a change. If none has, none can open it while
this command runs. docs/internals/FORMAT.md explains the words.

Exit status: 0; 1 if reading failed; 2 if the directory has no files of a
cache.`

// inspectCommand is "firn inspect".
func inspectCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "inspect",
		Usage:       "show what the directory of an SSD tier holds",
		ArgsUsage:   "DIR",
		Description: command.Flow(inspectDescription),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON in place of tables"},
			&cli.BoolFlag{Name: "segments", Usage: "list all segments, not only the newest"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return inspect(ctx, cmd, stdout, stderr)
		},
	}
}

// openDirectory is the directory that a command's one argument names.
func openDirectory(cmd *cli.Command) (dir string, fs vfs.FS, err error) {
	if cmd.Args().Len() != 1 || cmd.Args().First() == "" {
		return "", nil, command.Usage(fmt.Errorf("%s: expected one directory", cmd.Name))
	}
	dir = cmd.Args().First()
	if fs, err = vfs.OSExisting(dir); err != nil {
		return "", nil, command.Usage(err)
	}
	return dir, fs, nil
}

// directoryError is an error of reading a directory, in words for users.
func directoryError(dir string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return command.ErrInterrupted
	case errors.Is(err, check.ErrNoTier):
		return command.Usage(fmt.Errorf("%s: %w", dir, err))
	case errors.Is(err, vfs.ErrLocked):
		return command.Usage(fmt.Errorf("%s is in use: its files change while they are read; close the cache first", dir))
	}
	return err
}

func inspect(ctx context.Context, cmd *cli.Command, stdout, stderr io.Writer) error {
	dir, fs, err := openDirectory(cmd)
	if err != nil {
		return err
	}
	in, err := check.Inspect(ctx, fs, nil)
	if err != nil {
		return directoryError(dir, err)
	}
	if cmd.Bool("json") {
		return json.NewEncoder(stdout).Encode(in)
	}
	if in.Lock == "in use" {
		fmt.Fprintf(stderr, "firn: %s is in use: what follows may be in the middle of a change\n", dir)
	}
	printInspection(stdout, dir, in, cmd.Bool("segments"))
	return nil
}

// newTable is a table without a header of capitals.
func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

// printInspection prints tables for people.
func printInspection(w io.Writer, dir string, in *check.Inspection, all bool) {
	fmt.Fprintf(w, "%s: %s\n", dir, in.Lock)
	t := newTable(w)
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 50, WidthMaxEnforcer: text.WrapSoft}})
	for _, row := range inspectionRows(in) {
		if row[1] != "" {
			t.AppendRow(table.Row{row[0], row[1]})
		}
	}
	t.Render()
	if len(in.Segments) > 0 {
		printSegments(w, in, all)
	}
	for _, p := range in.Problems {
		fmt.Fprintf(w, "problem: %v\n", p)
	}
	if len(in.Problems) > 0 {
		fmt.Fprintln(w, "firn verify checks everything")
	}
}

// inspectionRows are labels and what they say; an empty one is left out.
func inspectionRows(in *check.Inspection) [][2]string {
	s := &in.Superblock
	rows := [][2]string{
		{"the next Open finds it", in.Outlook},
		{"files", files(in.Files)},
		{"superblock", fmt.Sprintf("places %s and %s", in.Superblocks[0].State, in.Superblocks[1].State)},
	}
	if s.State != "valid" {
		return rows
	}
	rows = append(rows, [][2]string{
		{"  version, write", fmt.Sprintf("%d, %s", s.Version, humanize.Comma(int64(s.Counter)))},
		{"  log", fmt.Sprintf("%016x", s.LogID)},
		{"  closed", closed(s)},
		{"  boot", boot(s.Boot, in.Boot)},
		{"  geometry", fmt.Sprintf("%s segments of %s", humanize.Comma(s.Segments), size(s.SegmentBytes))},
		{"  index", fmt.Sprintf("%s shards, locations of %d bits in units of %d bytes", humanize.Comma(int64(s.Shards)), s.LocationBits, s.UnitBytes)},
		{"  in memory", kept(in)},
		{"log", segmentCounts(in)},
		{"  live", liveRecords(in)},
		{"snapshot", snapshot(in.Snapshot)},
	}...)
	return rows
}

func files(files []check.File) string {
	var parts []string
	for _, f := range files {
		parts = append(parts, f.Name+" "+size(f.Bytes))
	}
	return strings.Join(parts, ", ")
}

func size(n int64) string {
	if n < 0 {
		return "of unknown size"
	}
	return humanize.IBytes(uint64(n))
}

func closed(s *check.Superblock) string {
	if !s.Clean {
		return "no: in use, or its process died"
	}
	at := ""
	if s.LastTime != nil {
		at = ", " + s.LastTime.Format(time.RFC3339)
	}
	return "yes" + at
}

// kept says whether the index outlived its process; nothing for a cache that is in
// use, or was closed.
func kept(in *check.Inspection) string {
	switch {
	case in.Superblock.Clean || in.Lock == "in use":
		return ""
	case in.Memory:
		return "yes: it outlived the process"
	}
	return "no"
}

// boot compares the boot at which the files were opened with the present one.
func boot(of, now string) string {
	switch {
	case of == "":
		return "not known"
	case now == "":
		return of
	case of == now:
		return of + ", this one"
	}
	return of + ", not this one"
}

func segmentCounts(in *check.Inspection) string {
	states := map[string]int64{}
	for _, g := range in.Segments {
		states[g.State]++
	}
	parts := []string{}
	for _, state := range []string{"sealed", "open", "freed"} {
		if states[state] > 0 {
			parts = append(parts, humanize.Comma(states[state])+" "+state)
		}
	}
	parts = append(parts, humanize.Comma(in.Slots-int64(len(in.Segments)))+" unused")
	return strings.Join(parts, ", ")
}

func liveRecords(in *check.Inspection) string {
	l, about := &in.Live, ""
	if l.Sampled > 1 {
		about = "about "
	}
	used := ""
	if l.LogBytes > 0 {
		used = fmt.Sprintf(", %.0f %% of these segments", 100*float64(l.Bytes)/float64(l.LogBytes))
	}
	return fmt.Sprintf("%s records, %s%s%s", humanize.Comma(l.Records), about, size(l.Bytes), used)
}

func snapshot(s *check.SnapshotInfo) string {
	switch {
	case s == nil:
		return "none"
	case !s.Believed:
		return "outdated: it is not the one that the superblock names"
	}
	return fmt.Sprintf("%s records, %s places, %s", humanize.Comma(s.Records), humanize.Comma(int64(s.Places)), size(s.Bytes))
}

// newestSegments is how many are listed without -segments.
const newestSegments = 16

// printSegments lists the segments, the newest first.
func printSegments(w io.Writer, in *check.Inspection, all bool) {
	t := newTable(w)
	t.AppendHeader(table.Row{"segment", "slot", "state", "records", "fill", "sealed"})
	configs := []table.ColumnConfig{}
	for _, column := range []int{1, 2, 4, 5} {
		configs = append(configs, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	n := len(in.Segments)
	least := 0
	if !all {
		least = max(0, n-newestSegments)
	}
	for i := n - 1; i >= least; i-- {
		g := &in.Segments[i]
		at := ""
		if g.SealedAt != nil {
			at = g.SealedAt.Format(time.RFC3339)
		}
		t.AppendRow(table.Row{g.Serial, g.Slot, g.State, humanize.Comma(int64(g.Records)), strconv.Itoa(int(100*g.Fill)) + " %", at})
	}
	t.Render()
	if least > 0 {
		fmt.Fprintf(w, "and %s older ones: -segments lists them\n", humanize.Comma(int64(least)))
	}
}
