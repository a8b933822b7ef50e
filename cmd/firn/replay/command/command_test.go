package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/workload"
)

// parse parses flags as the programs do.
func parse(t *testing.T, args ...string) Options {
	t.Helper()
	var o Options
	cmd := &cli.Command{Name: "test", Flags: Flags(), Action: func(_ context.Context, cmd *cli.Command) (err error) {
		o, err = ParseOptions(cmd)
		return err
	}}
	var stderr bytes.Buffer
	if Main(context.Background(), cmd, append([]string{"test"}, args...), &stderr, &stderr) != StatusOK {
		t.Fatalf("%v: %s", args, &stderr)
	}
	return o
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	o := parse(t)
	if o.RAMBytes != 128<<20 || o.Fraction != 0 || o.valueSize() != 256 || o.Goroutines < 1 || o.Seed != 1 {
		t.Errorf("without a trace: %+v", o)
	}
	if got := o.Workloads(); len(got) != 1 || TraceName(got[0]) != "generated" {
		t.Errorf("workloads %q", got)
	}
	o = parse(t, "a", "b")
	if o.RAMBytes != 0 || o.Fraction != 0.1 || o.leastRAM != 64<<10 || len(o.Workloads()) != 2 {
		t.Errorf("with traces: %+v", o)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"4096": 4096, "64MiB": 64 << 20, "64MB": 64e6, "1.5 GiB": 3 << 29, "2k": 2000} {
		if o := parse(t, "-ram", text); o.RAMBytes != want {
			t.Errorf("%s: got %d, want %d", text, o.RAMBytes, want)
		}
	}
	if limit := firn.MemoryLimit(); limit > 0 {
		if o := parse(t, "-ram", "25%"); o.RAMBytes != limit/4 {
			t.Errorf("25%%: got %d of %d", o.RAMBytes, limit)
		}
	}
}

// What Args returns is parsed to the options it came from.
func TestArgs(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{},
		{"-limit", "7", "-value-size", "1KiB", "-goroutines", "5", "-seed", "18446744073709551615", "-ttl", "90s", "-time", "2m"},
		{"-format", "csv:time,key", "--", "-odd name"},
	} {
		want := parse(t, append([]string{"-ram", "1MiB"}, args...)...)
		if got := parse(t, want.Args(want.Workloads()[0], 1<<20)...); !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %+v\nwant %+v", args, got, want)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.csv")
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "key %d,1000\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args      []string
		low, high int64
	}{
		{[]string{"-fraction", "0.5", path}, 500 * 1008, 500 * 1016},
		{[]string{"-fraction", "0.5", "-limit", "10", path}, 5 * 1008, 5 * 1016},
		{[]string{"-limit", "10", path}, 64 << 10, 64 << 10},
		{[]string{"-ram", "77", path}, 77, 77},
	} {
		o := parse(t, test.args...)
		if ram, err := o.Budget(context.Background(), path, nil); err != nil || ram < test.low || ram > test.high {
			t.Errorf("%q: got %d, %v, want %d to %d", test.args, ram, err, test.low, test.high)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := parse(t, path)
	if _, err := o.Budget(ctx, path, nil); !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status int
		line   string
	}{
		{nil, 0, ""},
		{errors.New("disk\non fire"), 1, "p: disk; on fire\n"},
		{usage("-x %d: too few", 3), 2, "p: -x 3: too few\n"},
		{Usage(errors.New("no")), 2, "p: no\n"},
		{fmt.Errorf("wrapped: %w", &workload.TraceError{Path: "t", Offset: 5, Err: errors.New("cut")}), 2, "p: wrapped: t: offset 5: cut\n"},
		{&fs.PathError{Op: "open", Path: "t", Err: fs.ErrNotExist}, 2, "p: open t: file does not exist\n"},
		{fmt.Errorf("%w: %w", replay.ErrOpen, errors.New("too small")), 2, "p: opening the cache: too small\n"},
		{replay.ErrWrongValue, 1, "p: wrong values\n"},
		{ErrInterrupted, 130, "p: interrupted\n"},
		{ReportedError{Status: 7}, 7, ""},
	} {
		var stderr bytes.Buffer
		if status := Status("p", test.err, &stderr); status != test.status || stderr.String() != test.line {
			t.Errorf("%v: status %d, %q, want %d, %q", test.err, status, &stderr, test.status, test.line)
		}
	}
}

// forgetful is a cache that holds nothing.
type forgetful struct{}

func (forgetful) Get(dst, _ []byte) ([]byte, bool)       { return dst, false }
func (forgetful) Set(_, _ []byte, _ time.Duration) error { return nil }
func (forgetful) Close() error                           { return nil }
func (forgetful) Stats() replay.StoreStats {
	return replay.StoreStats{Evictions: 3, Expired: replay.Unknown, Bytes: replay.Unknown}
}
