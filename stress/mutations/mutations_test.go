package mutations

import (
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/stress/internal/bounds"
)

// mutation takes one guard out.
type mutation struct {
	guard    string // what is gone; unique
	file     string // in the tree
	old, new string // old is in the file once
	pkg      string // the package of the test, in the tree: ./remote, ./httpcache and below are of those modules
	test     string // fails without the guard
	racy     bool   // the test fails only if two goroutines meet: it is run up to 40 times
	quick    bool   // whether a bounded run tries it
}

func all() []mutation {
	return slices.Concat(readers, batches, simulated, ramTier, small, ssdTier, upper, endings, computes, deadlines, remotes, processes, responses)
}

const root = "../.."

// Every mutation still has the text that it changes.
func TestTextsAreThere(t *testing.T) {
	for _, m := range all() {
		if _, err := m.mutated(); err != nil {
			t.Errorf("%s: %v", m.guard, err)
		}
	}
}

// Each guard is named once, and its test is in the package that the mutation names.
func TestTestsAreThere(t *testing.T) {
	named := map[string]bool{}
	for _, m := range all() {
		if named[m.guard] {
			t.Errorf("two mutations are named %q", m.guard)
		}
		named[m.guard] = true
		if !strings.Contains(testsOf(t, m.pkg), "\nfunc "+m.test+"(") {
			t.Errorf("%s: there is no %s in %s", m.guard, m.test, m.pkg)
		}
	}
}

var testSources = map[string]string{} // by package

// testsOf is the source of a package's tests.
func testsOf(t *testing.T, pkg string) string {
	t.Helper()
	if testSources[pkg] == "" {
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", pkg, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			testSources[pkg] += string(source)
		}
	}
	return testSources[pkg]
}

// Each test passes as the code is, and fails without its guard.
func TestMutations(t *testing.T) {
	for _, m := range all() {
		t.Run(m.guard, func(t *testing.T) {
			if !m.quick && !bounds.Long() {
				t.Skip("takes long: see -long")
			}
			if matches, err := build.Default.MatchFile(filepath.Split(filepath.Join(root, m.file))); !matches || err != nil {
				t.Skipf("%s is not built here: %v", m.file, err)
			}
			if out := passed(m.pkg); strings.Contains(out, "\n--- SKIP: "+m.test+" (") {
				t.Skipf("%s is skipped here:\n%s", m.test, out)
			} else if !strings.Contains(out, "\n--- PASS: "+m.test+" (") {
				t.Fatalf("%s does not pass as the code is:\n%s", m.test, out)
			}
			count := "-count=1"
			if m.racy {
				count = "-count=40"
			}
			out, err := m.run(count, "-overlay="+m.overlay(t))
			switch failure := firstFailure(out); {
			case err == nil:
				t.Errorf("%s passes without the guard:\n%s", m.test, out)
			case failure == "":
				t.Errorf("%s does not run without the guard: %v\n%s", m.test, err, out)
			default:
				t.Log(failure)
			}
		})
	}
}

// passed is what the tests of a package print as the code is: those of its
// mutations that are to be tried.
func passed(pkg string) string {
	out, ok := baselines[pkg]
	if !ok {
		var tests []string
		for _, m := range all() {
			if m.pkg == pkg && (m.quick || bounds.Long()) {
				tests = append(tests, m.test)
			}
		}
		out, _ = goTest(pkg, "-v", "-run=^("+strings.Join(tests, "|")+")$")
		baselines[pkg] = out
	}
	return out
}

var baselines = map[string]string{} // by package

// mutated is the file without the guard.
func (m *mutation) mutated() (string, error) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("%d times in %s, expected once: %s", n, m.file, m.old)
	}
	return strings.Replace(string(source), m.old, m.new, 1), nil
}

// overlay is a file that tells the go command to read the mutated one.
func (m *mutation) overlay(t *testing.T) (path string) {
	t.Helper()
	source, err := m.mutated()
	if err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(m.file))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "overlay.json")
	for name, content := range map[string][]byte{changed: []byte(source), path: list} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// run runs the test until it fails once.
func (m *mutation) run(flags ...string) (out string, err error) {
	return goTest(m.pkg, append(flags, "-failfast", "-run=^"+m.test+"$")...)
}

// goTest runs tests of a package of the tree.
func goTest(pkg string, flags ...string) (out string, err error) {
	dir := root
	for _, module := range []string{"remote", "httpcache"} {
		if below, ok := strings.CutPrefix(pkg, "./"+module); ok {
			dir, pkg = filepath.Join(root, module), "."+below
		}
	}
	cmd := exec.Command("go", slices.Concat([]string{"test", "-vet=off", "-timeout=5m"}, flags, []string{pkg})...)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// firstFailure is the line that tells what failed first.
func firstFailure(out string) string {
	lines := strings.Split(out, "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		return strings.Contains(l, "--- FAIL: ") || strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ")
	})
	if at < 0 {
		return ""
	}
	first := strings.Join(lines[at:min(at+2, len(lines))], "\n")
	return first[:min(len(first), 300)]
}
