package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn/cmd/firn/replay"
)

// fakeRivals is a bench module whose rivals print their flags as their names.
const fakeRivals = `package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	switch name := os.Args[2]; name {
	case "list":
		fmt.Println("good\nbad")
	case "bad":
		fmt.Fprintln(os.Stderr, "bench/replay: no luck")
		os.Exit(1)
	default:
		fmt.Printf("{\"cache\": %q, \"requests\": 42}\n", name+" "+strings.Join(os.Args[3:], " "))
	}
}
`

// inClone makes the working directory one below a clone of the source with
// fake rivals.
func inClone(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "go.mod"), []byte("module github.com/firncache/firn\n"))
	writeFile(t, filepath.Join(root, "bench", "go.mod"), []byte("module fake\n"))
	writeFile(t, filepath.Join(root, "bench", "replay", "main.go"), []byte(fakeRivals))
	below := filepath.Join(root, "docs", "deep")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
}

func TestAgainst(t *testing.T) {
	trace := writeTrace(t, "a.trc", 1000, 10)
	inClone(t)
	status, stdout, stderr := runFirn("replay", "-against", "good,good", "-ram", "16MiB", "-limit", "500",
		"-value-size", "77", "-goroutines", "3", "-seed", "9", "-ttl", "5s", "-format", "trc", "-json", "-", trace)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	var result replay.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	want := "good -ram 16777216 -goroutines 3 -seed 9 -ttl 5s -value-size 77 -limit 500 -format trc -- " + trace
	if result.Requests != 500 || len(result.Against) != 2 || result.Against[0].Cache != want || result.Against[0].Requests != 42 {
		t.Errorf("%s\nwant %s", stdout, want)
	}

	status, stdout, _ = runFirn("replay", "-against", "good", "-limit", "500")
	if want := "good -ram 134217728"; status != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, "firn") {
		t.Errorf("status %d, no column for %q in\n%s", status, want, stdout)
	}
}

func TestAgainstList(t *testing.T) {
	inClone(t)
	status, stdout, stderr := runFirn("replay", "-against", "list")
	if status != 0 || stdout != "good\nbad\n" || stderr != "" {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestAgainstFails(t *testing.T) {
	outside := t.TempDir()
	inClone(t)
	clone, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir, rivals, path string
		status            int
		stderr            string
	}{
		{outside, "good", os.Getenv("PATH"), 2, "git clone https://github.com/firncache/firn"},
		{clone, "good", outside, 2, `"go": executable file not found`},
		{clone, "good,better", os.Getenv("PATH"), 2, `firn: -against "better": expected names out of good, bad`},
		{clone, "bad", os.Getenv("PATH"), 1, "bench/replay: no luck\n"},
	} {
		t.Chdir(test.dir)
		t.Setenv("PATH", test.path)
		status, _, stderr := runFirn("replay", "-limit", "100", "-against", test.rivals)
		if status != test.status || !strings.Contains(stderr, test.stderr) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("-against %s: status %d, stderr %q\nwant %d, %q", test.rivals, status, stderr, test.status, test.stderr)
		}
	}
}
