package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firncache/firn/cmd/firn/replay"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what was printed with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// tempDir makes the directory in which temporary ones are made.
func tempDir(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return dir
}

func replayJSON(t *testing.T, args ...string) (result replay.Result, stderr string) {
	t.Helper()
	status, stdout, stderr := runFirn(append([]string{"replay", "-json", "-"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != 0 {
		t.Fatalf("status %d, stderr %q, %v", status, stderr, err)
	}
	return result, stderr
}

// Keys in turn, more than RAM holds and fewer than the SSD tier does.
func TestReplaySSD(t *testing.T) {
	temp := tempDir(t)
	const keys = 4000
	trace := writeTrace(t, "loop.trc", 3*keys, keys)
	args := []string{"-ram", "1MiB", "-ssd", "32MiB", "-admission", "all", trace}
	first, stderr := replayJSON(t, args...)
	s := first.SSD
	if s == nil || stderr != "" {
		t.Fatalf("%+v, stderr %q", s, stderr)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if !s.On || s.Dir != "" || s.Admission != "all" || s.Bytes != 32<<20 || s.FileBytes > s.Bytes || s.Found != 0 {
		t.Errorf("%+v", s)
	}
	// A disk that is behind makes what comes next be shed.
	if s.RAMHits+s.Hits != first.Hits || s.Demotions+s.Shed < keys/2 || s.SetBytes < keys*1000 {
		t.Errorf("hits %d: %+v", first.Hits, s)
	}
}

// The files in -dir stay, and the next run finds what they hold. The first has
// room for all in RAM: it is written by Close, which waits for the disk.
func TestReplayDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	const keys = 2000
	trace := writeTrace(t, "loop.trc", keys, keys)
	args := []string{"-ssd", "32MiB", "-dir", dir, "-admission", "all", "-direct", "off", "-segment", "64KiB", trace, "-ram"}
	if first, _ := replayJSON(t, append(args, "16MiB")...); first.SSD.Dir != dir || first.SSD.Direct || first.Hits != 0 {
		t.Errorf("first: %d hits, %+v", first.Hits, first.SSD)
	}
	second, _ := replayJSON(t, append(args, "1MiB")...)
	s := second.SSD
	if s.Found != keys || s.Hits != keys || second.Hits != keys {
		t.Errorf("second: %d hits, %+v", second.Hits, s)
	}
	if s.Reads == 0 || s.P50 <= 0 || s.P50 > s.P99 || s.P99 > s.P999 || s.ReadBytes == 0 || s.Promotions == 0 {
		t.Errorf("disk: %+v", s)
	}
}

func TestReplayWithoutSpace(t *testing.T) {
	tempDir(t)
	trace := writeTrace(t, "loop.trc", 100, 10)
	result, stderr := replayJSON(t, "-goroutines", "1", "-ram", "1MiB", "-ssd", strconv.Itoa(1<<60), trace)
	if result.SSD != nil || result.Hits != 90 || !strings.Contains(stderr, "RAM goes on alone") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%+v, stderr %q", result.SSD, stderr)
	}
}

// What Open does not accept is a usage error that names the flag.
func TestReplaySSDRefused(t *testing.T) {
	tempDir(t)
	trace := writeTrace(t, "loop.trc", 100, 10)
	for args, want := range map[string]string{
		"-ram 1KiB":                           ": -ram is 1024: want at least",
		"-fraction 0.1":                       ": RAM by -fraction 0.1 is 10",
		"-ram 1MiB -ssd 1KiB":                 ": -ssd is 1024",
		"-ram 64KiB -ssd 8MiB":                ": -ram is 65536",
		"-ssd 8MiB":                           ": -ram is 65536",
		"-ram 1MiB -ssd 8MiB -segment 100000": ": -segment is 100000",
		"-ram 1MiB -ssd 8MiB -segment 4MiB":   "at most an eighth of -ssd",
	} {
		status, stdout, stderr := runFirn(append([]string{"replay", trace}, strings.Fields(args)...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, stderr %q", args, status, stderr)
		}
	}
}
