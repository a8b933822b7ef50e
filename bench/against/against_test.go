package against

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/cmd/firn/replay"
)

// TestMain lets the test's program be the one that replays through a cache.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Name {
		os.Exit(Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// forgetful is a cache that holds nothing.
type forgetful struct{}

func (forgetful) Get(dst, _ []byte) ([]byte, bool)       { return dst, false }
func (forgetful) Set(_, _ []byte, _ time.Duration) error { return nil }
func (forgetful) Close() error                           { return nil }
func (forgetful) Stats() replay.StoreStats {
	return replay.StoreStats{Evictions: 3, Expired: replay.Unknown, Bytes: replay.Unknown}
}

// run calls the program with two caches of the test's.
func run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	p := program{map[string]replay.OpenFunc{
		"none":   func(replay.StoreOptions) (replay.Store, error) { return forgetful{}, nil },
		"broken": func(replay.StoreOptions) (replay.Store, error) { return nil, errors.New("no memory") },
	}, &out, &errs}
	status = p.main(args)
	return status, out.String(), errs.String()
}

func TestAlone(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-rival", "-against"} {
		if status, stdout, stderr := run(flag, "list"); status != 0 || stdout != "broken\nnone\n" || stderr != "" {
			t.Errorf("%s list: status %d, stdout %q, stderr %q", flag, status, stdout, stderr)
		}
	}
	status, stdout, stderr := run("-rival", "none", "-limit", "1000")
	var result replay.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q, %v", status, stderr, err)
	}
	if result.Cache != "none" || result.Misses != 1000 || *result.Evictions != 3 || result.Expired != nil {
		t.Errorf("%s", stdout)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"-rival what", `"what" is no cache: expected names out of broken, none`},
		{"-against none,better", `"better" is no cache: expected names out of broken, none`},
		{"-against none -ram 5 -fraction 1", "-ram and -fraction both set the budget: give one of them"},
		{"-rival broken -limit 5", "opening the cache: no memory"},
		{"-rival none /no/such/file", "open /no/such/file: no such file or directory"},
		{"-against none -json /no/such/dir/x", "open /no/such/dir/x: no such file or directory"},
	} {
		if status, stdout, stderr := run(strings.Fields(test.args)...); status != 2 || stdout != "" || stderr != "bench replay: "+test.want+"\n" {
			t.Errorf("%s: status %d, stdout %q, stderr %q", test.args, status, stdout, stderr)
		}
	}
}

// Each cache replays the same requests under the same budget, in a process of its own.
func TestCompare(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "out.json")
	status := Main([]string{"-against", "fastcache,otter", "-ram", "64MiB", "-limit", "500", "-goroutines", "3", "-json", file}, &out, &errs)
	if status != 0 || errs.Len() > 0 {
		t.Fatalf("status %d, stderr %q", status, &errs)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var result replay.Result
	if err := json.Unmarshal(data, &result); err != nil || len(result.Against) != 2 {
		t.Fatalf("%v: %s", err, data)
	}
	for i, name := range []string{"firn", "fastcache", "otter"} {
		r := result
		if i > 0 {
			r = result.Against[i-1]
		}
		if r.Cache != name || r.Requests != 500 || r.Hits == 0 || r.RAMBytes != 64<<20 || r.Goroutines != 3 {
			t.Errorf("%s: %+v", name, r)
		}
		if !strings.Contains(out.String(), name) {
			t.Errorf("no column %s in\n%s", name, &out)
		}
	}
}

// What a process says of its failure is passed on, and its status.
func TestCompareFails(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "cut.trc")
	if err := os.WriteFile(trace, make([]byte, 20), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := Main([]string{"-against", "fastcache", "-ram", "16MiB", trace}, &out, &errs)
	if status != 2 || out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "record cut short") {
		t.Errorf("status %d, stdout %q, stderr %q", status, &out, &errs)
	}
}
