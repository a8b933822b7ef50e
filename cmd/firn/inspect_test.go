package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd/check"
)

// cacheDir makes the files of a cache with n entries, all of which have room in
// RAM, and closes it: Close writes them, and waits for the disk if need be.
func cacheDir(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	c := openIn(t, dir, 4<<20)
	for i := range n {
		if err := c.Set(fmt.Appendf(nil, "key-%d", i), make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openIn(t *testing.T, dir string, ram int64) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: ram, SSD: firn.SSDOptions{Dir: dir, Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestInspect(t *testing.T) {
	t.Parallel()
	const n = 4000
	dir := cacheDir(t, n)
	status, stdout, stderr := runFirn("inspect", "-json", dir)
	var in check.Inspection
	if err := json.Unmarshal([]byte(stdout), &in); err != nil || status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q, %v", status, stderr, err)
	}
	if in.Lock != "free" || !in.Superblock.Clean || in.Live.Records != n || len(in.Problems) > 0 {
		t.Errorf("%s", stdout)
	}
	status, stdout, stderr = runFirn("inspect", dir)
	for _, want := range []string{dir + ": free", "places valid and valid", "segments of 64 KiB", "older ones: -segments lists them"} {
		if status != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("status %d, stderr %q, no %q in\n%s", status, stderr, want, stdout)
		}
	}
	_, all, _ := runFirn("inspect", "-segments", dir)
	if strings.Count(all, "│ sealed │") != len(in.Segments) {
		t.Errorf("%d segments in\n%s", len(in.Segments), all)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	dir := cacheDir(t, 2000)
	status, stdout, stderr := runFirn("verify", dir)
	if status != 0 || stderr != "" || !strings.HasPrefix(stdout, dir+": all is well; ") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	file, err := os.OpenFile(filepath.Join(dir, "log"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte{0x55}, 300); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr = runFirn("verify", dir)
	if status != 1 || stderr != "" || !strings.HasPrefix(stdout, "log, offset 64: segment 1: record 1 of ") || !strings.Contains(stdout, ": 1 problem; ") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	status, stdout, _ = runFirn("verify", "-json", dir)
	lines := json.NewDecoder(strings.NewReader(stdout))
	var p check.Problem
	var v check.Verified
	if err := lines.Decode(&p); err != nil || p.File != "log" || p.Offset != 64 {
		t.Errorf("%s: %v", stdout, err)
	}
	if err := lines.Decode(&v); err != nil || v.Problems != 1 || status != 1 {
		t.Errorf("status %d, %s: %v", status, stdout, err)
	}
}

func TestDirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openIn(t, dir, 1<<20)
	status, stdout, stderr := runFirn("inspect", dir)
	if status != 0 || !strings.HasPrefix(stdout, dir+": in use\n") || !strings.Contains(stderr, "may be in the middle of a change") {
		t.Errorf("inspect: status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	status, stdout, stderr = runFirn("verify", dir)
	if status != 2 || stdout != "" || !strings.Contains(stderr, dir+" is in use") {
		t.Errorf("verify: status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Neither command makes anything.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	file := writeFile(t, filepath.Join(t.TempDir(), "file"), nil)
	for _, name := range []string{"inspect", "verify"} {
		for args, want := range map[string]string{
			"":                  name + ": expected one directory",
			empty + " " + empty: name + ": expected one directory",
			empty:               "no files of a cache",
			empty + "/none":     "no such file or directory",
			file:                "not a directory",
		} {
			status, stdout, stderr := runFirn(append([]string{name}, strings.Fields(args)...)...)
			if status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s %s: status %d, stdout %q, stderr %q", name, args, status, stdout, stderr)
			}
		}
		if status, _, stderr := runFirn(name, ""); status != 2 || stderr != "firn: "+name+": expected one directory\n" {
			t.Errorf("%s of an empty name: status %d, stderr %q", name, status, stderr)
		}
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
		t.Errorf("made %v, %v", left, err)
	}
}

func TestInterruptedVerify(t *testing.T) {
	t.Parallel()
	dir := cacheDir(t, 100)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"inspect", "verify"} {
		var stdout, stderr bytes.Buffer
		if status := run(ctx, []string{name, dir}, &stdout, &stderr); status != 130 || stderr.String() != "firn: interrupted\n" {
			t.Errorf("%s: status %d, stderr %q", name, status, &stderr)
		}
	}
}

func TestInspectionTable(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	in := &check.Inspection{
		Lock: "free", Boot: "b0", Outlook: "warm, from the snapshot",
		Files: []check.File{{Name: "lock"}, {Name: "log", Bytes: 8 << 20}, {Name: "odd", Bytes: -1}},
		Superblock: check.Superblock{
			State: "valid", Version: 2, Counter: 1234, LogID: 0xabc, SegmentBytes: 1 << 20, Segments: 8,
			UnitBytes: 8, Shards: 2, LocationBits: 21, Clean: true, LastTime: &at, Boot: "b0",
		},
		Superblocks: [2]check.Superblock{{State: "valid"}, {State: "damaged"}},
		Slots:       8,
		Snapshot:    &check.SnapshotInfo{Bytes: 8 << 10, Records: 1000, Believed: true},
		Live:        check.Live{Records: 1000, Bytes: 1 << 20, LogBytes: 2 << 20, Sampled: 4},
		Problems:    []check.Problem{{File: "superblock", Offset: 4096, What: "damaged"}},
	}
	for i := range uint64(20) {
		g := check.Segment{Slot: int(i % 8), Serial: i + 1, State: "freed", Records: 1500, Fill: .987, SealedAt: &at}
		if i >= 14 {
			g.State = "sealed"
		}
		if i == 19 {
			g.State, g.SealedAt = "open", nil
		}
		in.Segments = append(in.Segments, g)
	}
	in.Slots = 21
	var out bytes.Buffer
	printInspection(&out, "/cache", in, false)
	in.Lock, in.Outlook, in.Boot = "in use", "locked", "b1"
	in.Superblock.Clean, in.Snapshot = false, nil
	in.Segments = in.Segments[18:]
	printInspection(&out, "/cache", in, true)
	in.Lock, in.Memory = "free", true
	printInspection(&out, "/cache", in, true)
	in.Superblock, in.Segments, in.Problems = check.Superblock{}, nil, nil
	printInspection(&out, "/cache", in, true)
	golden(t, "inspect.txt", out.String())
}
