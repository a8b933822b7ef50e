package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/invariants"
)

// pageOf serves the stats.json of two caches, one with an SSD tier, and one that has no curve yet.
func pageOf(t *testing.T) (url string) {
	t.Helper()
	var curves []any
	for _, name := range []string{"ram.json", "tiers.json"} {
		data, err := os.ReadFile(filepath.Join("internal", "curve", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		curves = append(curves, data)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/firn/stats.json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"seq":9,"caches":[{"name":"users","curve":%s},{"name":"new"},{"name":"pictures","curve":%s}]}`, curves...)
	})
	mux.HandleFunc("/debug/other/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/debug/"
}

// All the caches of a page, or one of them.
func TestPlanCurve(t *testing.T) {
	t.Parallel()
	url := pageOf(t)
	status, all, stderr := runFirn("plan", "-curve", url+"firn/")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	golden(t, "plan-curve.txt", all)
	status, one, stderr := runFirn("plan", "-cache", "pictures", "-curve", url+"firn/stats.json")
	if status != 0 || stderr != "" || !strings.HasPrefix(one, "pictures\n") || !strings.HasSuffix(all, "\n"+one) {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, one)
	}
}

// The curves of firn replay -json, each under the name of its trace.
func TestPlanCurveOfReplay(t *testing.T) {
	t.Parallel()
	one, two := writeTrace(t, "one.trc", 3000, 100), writeTrace(t, "two.trc", 3000, 200)
	file := filepath.Join(t.TempDir(), "out.json")
	if status, _, stderr := runFirn("replay", "-json", file, one, two); status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	status, stdout, stderr := runFirn("plan", "-curve", file)
	if status != 0 || stderr != "" || !strings.HasPrefix(stdout, one+"\n") || !strings.Contains(stdout, "\n\n"+two+"\n") {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
}

// After some 100,000 reads a cache of 8 MiB knows what it misses itself: replay draws it, and plan
// has it from the JSON.
func TestReplayDrawsCurve(t *testing.T) {
	t.Parallel()
	if invariants.Race {
		t.Skip("too many requests for the race detector")
	}
	file := filepath.Join(t.TempDir(), "out.json")
	status, stdout, stderr := runFirn(strings.Fields("replay -limit 1500000 -ram 8MiB -ssd 0 -value-size 100 -goroutines 1 -json " + file)...)
	if drawn := regexp.MustCompile(`\n>  8.0 MiB +#+ +[\d.]+ % +measured\n`); status != 0 || stderr != "" || !drawn.MatchString(stdout) {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
	status, stdout, stderr = runFirn("plan", "-cache", "generated", "-curve", file)
	if shown := regexp.MustCompile(`(?s)^generated\nReads that miss at other sizes of RAM, .*\| >  8.0 MiB \| +[\d.]+ ± .*measured `); status != 0 || stderr != "" || !shown.MatchString(stdout) {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
}

func TestPlanCurveBadInput(t *testing.T) {
	t.Parallel()
	url := pageOf(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	text := writeFile(t, filepath.Join(t.TempDir(), "text"), []byte("no curve"))
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"-curve " + text, 2, "firn: -curve " + text + ": no what-if curve: no JSON: "},
		{"-curve " + text + ".none", 2, "firn: -curve: open " + text + ".none: no such file or directory"},
		{"-curve " + filepath.Dir(text), 2, "firn: -curve: " + filepath.Dir(text) + ": read " + filepath.Dir(text) + ": is a directory"},
		{"-curve " + url + "other/stats.json", 2, "firn: -curve " + url + "other/stats.json: no what-if curve: no JSON: invalid character '<'"},
		{"-curve " + url + "none/", 1, "firn: -curve: " + url + "none/stats.json answers 404 Not Found"},
		{"-curve " + gone.URL + "/", 1, `firn: -curve: Get "` + gone.URL + `/stats.json": `},
		{"-curve " + url + "firn/ -cache carts", 2, `firn: -curve ` + url + `firn/: -cache "carts": there is no curve of it, but of "users", "pictures"`},
		{"-cache users", 2, "firn: -curve is missing or empty: want a file, a URL, or - for stdin"},
		{"-curve=", 2, "firn: -curve is missing or empty: want a file, a URL, or - for stdin"},
		{"-curve " + text + " more", 2, `firn: plan takes no argument, and got "more"`},
		{"-ram 1GiB -curve " + text, 2, "firn: -ram with -curve: what fits is not what a cache did: give one of them"},
		{"-json -curve " + text, 2, "firn: -json with -curve: "},
	} {
		status, stdout, stderr := runFirn(append([]string{"plan"}, strings.Fields(test.args)...)...)
		if status != test.status || stdout != "" || !strings.HasPrefix(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("firn plan %s\nstatus %d, want %d, stdout %q\n got %swant %s", test.args, status, test.status, stdout, stderr, test.want)
		}
	}
}

func TestPlanCurveInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if status := run(ctx, []string{"plan", "-curve", pageOf(t) + "firn/"}, &stdout, &stderr); status != 130 || stderr.String() != "firn: interrupted\n" {
		t.Errorf("status %d, stderr %q", status, &stderr)
	}
}
