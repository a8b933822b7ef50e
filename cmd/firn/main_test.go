package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/invariants"
)

// runFirn runs the command and returns its exit status and what it printed.
func runFirn(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

// writeTrace writes a trace of n requests for k keys of 1000 bytes in turn.
func writeTrace(t *testing.T, name string, n, k int) string {
	t.Helper()
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(i%k))
		b = binary.LittleEndian.AppendUint32(b, 1000)
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return writeFile(t, filepath.Join(t.TempDir(), name), b)
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	good := writeTrace(t, "good.trc", 100, 10)
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	cut := writeFile(t, filepath.Join(t.TempDir(), "cut.trc"), data[:100])
	empty := writeFile(t, filepath.Join(t.TempDir(), "empty.lis"), nil)
	comments := writeFile(t, filepath.Join(t.TempDir(), "stars.trace"), []byte("*\n*\n"))
	odd := writeFile(t, filepath.Join(t.TempDir(), "odd"), []byte{1, 2, 3})
	for _, test := range []struct {
		args string
		want string // the line on stderr
	}{
		{"melt", `firn: "melt" is no command: firn -help lists them`},
		{"help melt", "firn: No help topic for 'melt': firn -help lists them"},
		{"replay -melt", "firn: no flag -melt: firn replay -help lists them"},
		{"replay -tmie 5s", "firn: no flag -tmie (did you mean -time?): firn replay -help lists them"},
		{"plan -curv x", "firn: no flag -curv (did you mean -curve?): firn plan -help lists them"},
		{"replay -ram", "firn: flag needs an argument: -ram: firn replay -help lists the flags"},
		{"replay -ram 64Mob", `firn: -ram "64Mob": expected a size such as 64MiB, 64MB or 4096`},
		{"replay -ram -5", `firn: -ram "-5": expected a size such as 64MiB, 64MB or 4096`},
		{"replay -ram 0", `firn: -ram "0": expected 1 byte to 8.0 EiB`},
		{"replay -ram 16EiB", `firn: -ram "16EiB": expected a size such as 64MiB, 64MB or 4096`},
		{"replay -ram 9223372036854775808", `firn: -ram "9223372036854775808": expected 1 byte to 8.0 EiB`},
		{"replay -value-size 4GiB", `firn: -value-size "4GiB": expected 1 byte to 2.0 GiB`},
		{"replay -ram 1MiB -fraction 0.1", "firn: -ram and -fraction both set the budget: give one of them"},
		{"replay -fraction 0", "firn: -fraction 0: expected a number above 0, such as 0.1"},
		{"replay -fraction NaN", "firn: -fraction NaN: expected a number above 0, such as 0.1"},
		{"replay -goroutines 0", "firn: -goroutines 0: expected 1 to 16384"},
		{"replay -limit 0", "firn: -limit 0: expected a number of requests above 0"},
		{"replay -time -1s", "firn: -time -1s: expected a duration such as 30s"},
		{"replay -ttl -1s", "firn: -ttl -1s: expected a duration such as 30s"},
		{"replay -format trc", "firn: -format trc without a trace"},
		{"replay -format xyz " + good, `firn: -format: unknown trace format "xyz": expected one of trc, oraclegeneral, arc, lirs, twitter, csv`},
		{"replay /no/such/file", "firn: open /no/such/file: no such file or directory"},
		{"replay " + t.TempDir(), "is a directory, not a trace"},
		{"replay " + cut, "firn: " + cut + ": offset 96 (trc): record cut short: 4 of 16 bytes"},
		{"replay -ram 16MiB " + cut, "firn: " + cut + ": offset 96 (trc): record cut short: 4 of 16 bytes"},
		{"replay -format csv:key,key " + good, "firn: -format: unknown trace format: csv with two columns for one meaning"},
		{"replay -format lirs " + good, "firn: " + good + ": line 1, offset 0 (lirs): "},
		{"replay " + empty, "firn: " + empty + ": offset 0: the trace is empty"},
		{"replay -ram 16MiB " + comments, "firn: " + comments + ": no requests in the trace"},
		{"replay " + odd, "firn: " + odd + ": offset 0: unknown trace format: neither the name nor the content tells it"},
		{"replay -value-size 1MiB -ram 1MiB -limit 10", "firn: generated: no value fits a cache of 1.0 MiB: it takes keys and values of up to a quarter of that"},
		{"replay -limit 10 -json -live :0", `firn: -json "-live": expected a file, or - for stdout; ./-live is the file of this name`},
		{"replay -json /no/such/dir/x.json " + good, "firn: open /no/such/dir/x.json: no such file or directory"},
	} {
		status, stdout, stderr := runFirn(strings.Fields(test.args)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("firn %s\nstatus %d, stdout %q\n got %swant %s", test.args, status, stdout, stderr, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-help"}, {"help"}, {"replay", "-help"}, {"replay", "--help"}} {
		status, stdout, stderr := runFirn(args...)
		if status != 0 || !strings.Contains(stdout, "replay") || stderr != "" {
			t.Errorf("firn %v: status %d, stderr %q, stdout:\n%s", args, status, stderr, stdout)
		}
	}
	if _, stdout, _ := runFirn("replay", "-h"); !strings.Contains(stdout, "-fraction") || !strings.Contains(stdout, "oraclegeneral") {
		t.Errorf("help without the flags:\n%s", stdout)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := runFirn("-version")
	if status != 0 || stderr != "" || !strings.HasPrefix(stdout, "firn version ") || !strings.HasSuffix(stdout, runtime.GOOS+"/"+runtime.GOARCH+"\n") {
		t.Errorf("status %d, stderr %q, stdout %q", status, stderr, stdout)
	}
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	requests := "50000"
	if invariants.Race {
		requests = "5000"
	}
	status, stdout, stderr := runFirn("replay", "-limit", requests, "--ram=16MiB", "-json", "-")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	var figures map[string]any
	if err := json.Unmarshal([]byte(stdout), &figures); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"requests", "hits", "misses", "hit_ratio", "ops_per_second", "p50_ns", "p99_ns",
		"p999_ns", "rss_bytes", "gc_cpu_fraction", "evictions", "curve",
	} {
		if _, ok := figures[key]; !ok {
			t.Errorf("no %q in %s", key, stdout)
		}
	}
	if fmt.Sprint(figures["requests"]) != requests || figures["trace"] != "generated" || figures["ram_bytes"] != float64(16<<20) {
		t.Errorf("%s", stdout)
	}
}

// Values that are larger than the cache takes do not fit, whatever was not evicted.
func TestSomeValuesTooLarge(t *testing.T) {
	t.Parallel()
	trace := writeFile(t, filepath.Join(t.TempDir(), "keys.csv"), []byte("a,1000\nb,1000000\n"))
	for _, details := range []string{"-details", "-details=false"} {
		status, stdout, stderr := runFirn("replay", "-ram", "1MiB", details, trace)
		if status != 0 || stderr != "" || strings.Contains(stdout, "fits") || !strings.Contains(stdout, "1 value was larger than the cache takes") {
			t.Errorf("status %d, stderr %q\n%s", status, stderr, stdout)
		}
	}
}

// Each trace is a run of its own: a table and a line of JSON.
func TestSeveralTraces(t *testing.T) {
	t.Parallel()
	keys, requests := 3000, "30,000"
	if invariants.Race {
		keys, requests = 300, "3,000"
	}
	one, two := writeTrace(t, "one.trc", 10*keys, keys), writeTrace(t, "two.trc", 100*keys, keys)
	file := filepath.Join(t.TempDir(), "out.json")
	status, stdout, stderr := runFirn("replay", one, "-details", "-json", file, "-fraction", "6", "-goroutines", "1", two)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	for _, want := range []string{one, two, requests, "90.00 %", "99.00 %", "latency p99.9", "GC share of CPU", "operations a second", "90.0 %", "requests a second"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var results []replay.Result
	for decoder := json.NewDecoder(bytes.NewReader(data)); decoder.More(); {
		var r replay.Result
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if len(results) != 2 || results[0].Trace != one || results[0].Hits != int64(9*keys) || results[1].Trace != two || results[1].Hits != int64(99*keys) {
		t.Errorf("%s", data)
	}
	// 8 to 16 bytes of key and 1000 of value, for each key, times 6.
	if ram := results[0].RAMBytes; ram < 6*int64(keys)*1008 || ram > 6*int64(keys)*1016 {
		t.Errorf("budget %d", ram)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	status := run(ctx, []string{"replay", "-ssd", "8MiB", "-json", "-"}, &stdout, &stderr)
	if status != 130 || stderr.String() != "firn: interrupted\n" || !strings.Contains(stdout.String(), `"interrupted":true`) {
		t.Errorf("status %d, stderr %q, stdout %q", status, &stderr, &stdout)
	}
}
