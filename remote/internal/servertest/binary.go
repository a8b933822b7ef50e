package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// The environment variables.
const (
	ServersEnv = "FIRN_TEST_SERVERS"
	RequireEnv = "FIRN_REQUIRE_SERVER"
)

// Binary is a server's program.
type Binary struct {
	Path   string
	Valkey bool
	Major  int
	Minor  int
}

// String is as valkey-8.1.
func (b Binary) String() string {
	name := "redis"
	if b.Valkey {
		name = "valkey"
	}
	return fmt.Sprintf("%s-%d.%d", name, b.Major, b.Minor)
}

// AtLeast reports whether the program is of a version or later.
func (b Binary) AtLeast(major, minor int) bool {
	return b.Major > major || b.Major == major && b.Minor >= minor
}

// Binaries are the programs to test with, at least one: without any, the test is skipped, or
// fails.
func Binaries(t testing.TB) []Binary {
	t.Helper()
	found, err := binaries()
	switch {
	case err != nil:
		t.Fatal(err)
	case len(found) > 0:
	case os.Getenv(RequireEnv) == "1":
		t.Fatalf("no redis-server or valkey-server in PATH, and none in %s, but %s is 1: want one (Debian: apt-get install redis-server)", ServersEnv, RequireEnv)
	default:
		t.Skipf("no redis-server or valkey-server in PATH, and none in %s", ServersEnv)
	}
	return found
}

// Each runs a test with every program, in order.
func Each(t *testing.T, test func(t *testing.T, b Binary)) {
	t.Helper()
	for _, b := range Binaries(t) {
		t.Run(b.String(), func(t *testing.T) { test(t, b) })
	}
}

var binaries = sync.OnceValues(func() ([]Binary, error) {
	var found []Binary
	for _, path := range paths() {
		b, err := inspect(path)
		if err != nil {
			return nil, err
		}
		found = append(found, b)
	}
	return found, nil
})

// paths are the programs' paths.
func paths() []string {
	if list := os.Getenv(ServersEnv); list != "" {
		return filepath.SplitList(list)
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}
		}
	}
	return nil
}

var versionLine = regexp.MustCompile(`^(Redis|Valkey) server v=(\d+)\.(\d+)\.`)

// inspect asks a program for its version.
func inspect(path string) (Binary, error) {
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return Binary{}, fmt.Errorf("%s --version: %w", path, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return Binary{}, fmt.Errorf("%s --version says %q, want Redis or Valkey server v=…", path, out)
	}
	major, _ := strconv.Atoi(string(m[2]))
	minor, _ := strconv.Atoi(string(m[3]))
	return Binary{Path: path, Valkey: string(m[1]) == "Valkey", Major: major, Minor: minor}, nil
}
