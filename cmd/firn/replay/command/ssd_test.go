package command

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/workload"
)

// parseSSD parses flags as a program with an SSD tier does.
func parseSSD(args ...string) (o Options, stderr string) {
	cmd := &cli.Command{Name: "test", Flags: slices.Concat(Flags(), SSDFlags()), Action: func(_ context.Context, cmd *cli.Command) (err error) {
		if o, err = ParseOptions(cmd); err == nil {
			err = o.ParseSSD(cmd)
		}
		return err
	}}
	var out bytes.Buffer
	Main(context.Background(), cmd, append([]string{"test"}, args...), &out, &out)
	return o, out.String()
}

func TestSSDFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		want firn.SSDOptions
	}{
		{"", firn.SSDOptions{Bytes: 512 << 20, Admission: firn.AdmitAll}},
		{"-ssd 0", firn.SSDOptions{}},
		{"-ram 512KiB", firn.SSDOptions{}},
		{"-fraction 0.1", firn.SSDOptions{}},
		{"trace", firn.SSDOptions{}},
		{"-ssd 1GiB trace", firn.SSDOptions{Bytes: 1 << 30}},
		{"-ssd 1GiB -fraction 0.1", firn.SSDOptions{Bytes: 1 << 30, Admission: firn.AdmitAll}},
		{"-admission read -direct off", firn.SSDOptions{Bytes: 512 << 20, Admission: firn.AdmitRead, DirectIO: firn.DirectOff}},
		{
			"-ssd 4GB -dir d -write-budget 1GiB -compress -direct on -segment 64KiB trace",
			firn.SSDOptions{Bytes: 4e9, Dir: "d", WriteBudget: 1 << 30, Compress: true, DirectIO: firn.DirectOn, SegmentBytes: 64 << 10},
		},
	} {
		o, stderr := parseSSD(strings.Fields(test.args)...)
		if !reflect.DeepEqual(o.SSD, test.want) || stderr != "" {
			t.Errorf("%s: got %+v, %s\nwant %+v", test.args, o.SSD, stderr, test.want)
		}
		if test.want.Bytes > 0 && o.Goroutines < ssdGoroutines {
			t.Errorf("%s: %d goroutines", test.args, o.Goroutines)
		}
	}
	if o, _ := parseSSD("-goroutines", "3"); o.Goroutines != 3 {
		t.Errorf("%d goroutines, want the 3 that were asked for", o.Goroutines)
	}
}

func TestSSDUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"-ssd much", `-ssd "much": expected a size such as 4GiB, or 0`},
		{"-dir d trace", "-dir without -ssd"},
		{"-ssd 0 -segment 64KiB", "-segment without -ssd"},
		{"-ssd 1GiB -dir d one two", "-dir with 2 traces: each of them needs a directory of its own"},
		{"-admission some", `-admission "some" is none of the choices: want seen, read, all`},
		{"-direct maybe", `-direct "maybe" is none of the choices: want auto, on, off`},
		{"-write-budget fast", `-write-budget "fast": expected a size such as 64MiB, 64MB or 4096`},
	} {
		if _, stderr := parseSSD(strings.Fields(test.args)...); stderr != "test: "+test.want+"\n" {
			t.Errorf("%s: got %swant %s", test.args, stderr, test.want)
		}
	}
}

// The generated workload has fewer requests when some of them wait for a disk.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int64{"": generatedRequests, "-ssd 0": 30_000_000, "-limit 7": 7} {
		o, _ := parseSSD(strings.Fields(args)...)
		src, err := o.open("")
		if err != nil {
			t.Fatal(err)
		}
		var requests [1]workload.Request
		if _, err := src.Read(requests[:]); err != nil {
			t.Fatal(err)
		}
		if got := src.Done(); got != 1/float64(want) {
			t.Errorf("%q: one request is %v of all, want 1/%d", args, got, want)
		}
	}
}
