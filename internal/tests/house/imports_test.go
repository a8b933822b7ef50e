package house

import (
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/firncache/firn"

// floors are the packages that make the cache. Each imports only from lower floors,
// and of those what allowed lists. A package inside another, as ssd/format is, lies on
// the floor of that one. The tiers do not know each other.
//
//	firntest  live                           a cache in a test's hand, and on a page
//	firn                                     the user's nouns
//	testseam                                 how tests reach into a cache
//	load  typed  curve                       values that are fetched; keys and values of any type; other sizes
//	store                                    the tiers as one store
//	fleet                                    copies of what a shared tier has
//	local  coherence  codec  hot             RAM over SSD as one store; what keeps fronts right; values as bytes, and decoded
//	ram  ssd                                 the tiers
//	policy  index  record  aio  registry     what stays, where it is, how it is laid out, how it is read; tags and namespaces
//	watch  evicted                           writes of a key, noticed; records that left, and why
//	inside  advice  stats                    what the page shows of a cache beyond Stats; what a curve means, in sentences; Stats
//	offheap  vfs  uring  kaio  clock  memory memory and how much there is, disk, time
//	histogram  shared                        how long things took; what a shared tier and the local ones say to each other
//	flight                                   one request for many callers
//	invariants  enumtext  loglines           checks that cost nothing in production; the names of small types; lines for the log
var floors = [][]string{
	{"firntest", "live"},
	{"."},
	{"internal/testseam"},
	{"internal/load", "internal/typed", "internal/curve"},
	{"internal/store"},
	{"internal/fleet"},
	{"internal/local", "internal/coherence", "internal/codec", "internal/hot"},
	{"internal/ram", "internal/ssd"},
	{"internal/watch", "internal/evicted", "internal/policy", "internal/index", "internal/record", "internal/aio", "internal/registry", "internal/inside", "internal/advice", "internal/cachetest", "stats"},
	{"internal/offheap", "internal/vfs", "internal/uring", "internal/kaio", "internal/clock", "internal/histogram", "internal/shared", "internal/memory", "internal/flight", "bufpool"},
	{"internal/invariants", "internal/enumtext", "internal/loglines"},
}

var allowed = map[string][]string{
	"firntest":               {"internal/local", module, "internal/testseam", "internal/store", "internal/vfs", "internal/vfs/vfstest"},
	".":                      {"internal/enumtext", "internal/evicted", "internal/local", "internal/fleet", "internal/load", "internal/testseam", "internal/store", "internal/typed", "internal/hot", "internal/coherence", "internal/codec", "internal/ram", "internal/ssd", "stats", "internal/curve", "internal/shared", "internal/histogram", "internal/inside", "internal/memory"},
	"stats":                  {"internal/enumtext", "internal/histogram"},
	"internal/curve":         {"internal/local", "stats", "internal/advice", "internal/policy/whatif", "internal/store"},
	"live":                   {module, "stats", "internal/inside", "internal/histogram", "internal/advice"},
	"internal/load":          {"internal/evicted", "internal/watch", "internal/local", "internal/fleet", "internal/store", "internal/shared", "internal/ram", "internal/offheap", "internal/histogram"},
	"internal/store":         {"internal/evicted", "internal/fleet", "internal/local", "internal/ram", "internal/ssd", "internal/shared", "internal/histogram", "internal/inside"},
	"internal/fleet":         {"internal/evicted", "internal/watch", "internal/local", "internal/ram", "internal/shared", "internal/histogram", "internal/inside", "internal/registry", "internal/flight"},
	"internal/local":         {"internal/ssd/shares", "internal/ram/quotas", "internal/evicted", "internal/watch", "internal/policy/whatif", "internal/inside", "internal/ram", "internal/ssd", "internal/shared", "internal/record", "internal/registry", "internal/vfs", "internal/clock"},
	"internal/watch":         {},
	"internal/evicted":       {},
	"internal/ram/segments":  {"internal/policy"},
	"internal/ram/quotas":    {"internal/ram/segments", "internal/policy"},
	"internal/ram":           {"internal/ram/segments", "internal/ram/quotas", "internal/watch", "internal/evicted", "internal/policy", "internal/policy/whatif", "internal/inside", "internal/histogram", "internal/index", "internal/clock", "internal/record", "internal/offheap", "internal/invariants", "golang.org/x/sys/cpu"},
	"internal/codec":         {"internal/codec/plan", "internal/offheap"},
	"internal/codec/plan":    {"internal/offheap"},
	"internal/testseam":      {"internal/load", "internal/store"},
	"internal/hot":           {},
	"internal/coherence":     {"internal/offheap", "internal/shared"},
	"internal/typed":         {"internal/local", "internal/fleet", "internal/codec", "internal/coherence", "internal/store", "internal/shared", "internal/registry", "internal/offheap", "internal/ram"},
	"internal/ssd":           {"internal/ssd/shares", "internal/inside", "internal/ssd/files", "internal/ssd/format", "internal/ssd/admission", "internal/ssd/health", "internal/ssd/index", "internal/ssd/log", "internal/record", "internal/registry", "internal/aio", "internal/vfs", "internal/offheap", "bufpool", "github.com/klauspost/compress/s2"},
	"internal/ssd/check":     {"internal/ssd/files", "internal/ssd/format", "internal/ssd/index", "internal/vfs"},
	"internal/ssd/files":     {"internal/ssd/format", "internal/vfs", "internal/offheap", "golang.org/x/sys/unix"},
	"internal/ssd/shares":    {},
	"internal/ssd/index":     {"internal/ssd/files", "internal/ssd/format", "internal/offheap"},
	"internal/ssd/admission": {"internal/ssd/format", "internal/record"},
	"internal/ssd/health":    {"internal/inside", "internal/loglines"},
	"internal/ssd/log":       {"internal/ssd/files", "internal/ssd/format", "internal/inside", "internal/vfs"},
	"internal/ssd/format":    {"internal/record", "internal/registry"},
	"internal/policy":        {"internal/invariants"},
	"internal/policy/whatif": {"internal/policy"},
	"internal/inside":        {"internal/histogram"},
	"internal/advice":        {},
	"internal/index":         {"internal/offheap", "internal/invariants"},
	"internal/registry":      {"internal/offheap"},
	"internal/record":        {"internal/invariants"},
	"internal/offheap":       {"internal/invariants", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/aio":           {"internal/histogram", "internal/kaio", "internal/uring", "internal/vfs", "bufpool", "golang.org/x/sys/unix"},
	"internal/uring":         {"golang.org/x/sys/unix"},
	"internal/kaio":          {"golang.org/x/sys/unix"},
	"internal/vfs":           {"github.com/gofrs/flock", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/vfs/vfstest":   {"internal/vfs"},
	"internal/clock":         {"golang.org/x/sys/unix"},
	"internal/memory":        {},
	"internal/histogram":     {},
	"internal/shared":        {"internal/enumtext"},
	"internal/flight":        {},
	"internal/enumtext":      {},
	"internal/loglines":      {},
	"internal/invariants":    {},
	"internal/cachetest":     {},
}

// mayBeUnsafe are the packages that may import unsafe: index only to check
// sizes while it compiles, uring and kaio for the memory that they share with the
// kernel.
var mayBeUnsafe = []string{"internal/offheap", "internal/index", "internal/uring", "internal/kaio"}

// doubles are the packages that only tests import.
var doubles = []string{"internal/cachetest", "internal/policy/policytest", "internal/vfs/vfstest", "internal/ssd/format/formattest", "internal/shared/sharedtest", "internal/tests/harness"}

// imports lists, for each package below the root, the imports of its files,
// tests apart and for every system and tag.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || path == "internal/tests" || ownModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		found[dir] = append(found[dir], "")
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[dir] = append(found[dir], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ownModule reports whether the directory is the root of another module.
func ownModule(dir string) bool {
	m, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return len(m) > 0
}

// outer is the package that pkg lies in, below internal, or pkg itself.
func outer(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	if len(parts) == 3 && parts[0] == "internal" {
		return parts[0] + "/" + parts[1]
	}
	return pkg
}

func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".") || build.IsLocalImport(name)
}

func TestImports(t *testing.T) {
	found := imports(t)
	floor := map[string]int{}
	for i, pkgs := range floors {
		for _, pkg := range pkgs {
			floor[pkg] = len(floors) - i
		}
	}
	for pkg, list := range allowed {
		if floor[outer(pkg)] == 0 {
			t.Errorf("package %s is on no floor", pkg)
		}
		for _, name := range list {
			if _, ours := found[name]; ours && outer(name) != outer(pkg) && floor[outer(name)] >= floor[outer(pkg)] {
				t.Errorf("package %s may import %s, which lies on no lower floor", pkg, name)
			}
		}
		if len(found[pkg]) == 0 {
			t.Errorf("package %s is in the table and not in the tree: take it out of the table", pkg)
		}
	}
	for pkg, names := range found {
		list, core := allowed[pkg]
		for _, name := range names {
			local, ours := strings.CutPrefix(name, module+"/")
			switch {
			case name == "unsafe" && !slices.Contains(mayBeUnsafe, pkg):
				t.Errorf("%s imports unsafe: move what needs it to internal/offheap", pkg)
			case name == "" || isStandard(name):
			case !core && ours && slices.Contains(doubles, local):
				t.Errorf("%s imports %s outside of its tests", pkg, local)
			case ours && local == "internal/ssd/check" && !strings.HasPrefix(pkg, "cmd/"):
				t.Errorf("%s imports %s, which is the command's", pkg, local)
			case !core && (strings.HasPrefix(pkg, "cmd/") || !ours):
			case !core && strings.HasPrefix(local, "cmd/"):
				t.Errorf("%s imports %s: imports run the other way", pkg, local)
			case core && !slices.Contains(list, name) && !slices.Contains(list, local):
				t.Errorf("%s imports %s: allowed are %v", pkg, name, list)
			}
		}
	}
}

// index uses unsafe for nothing but sizes.
func TestIndexUsesUnsafeForSizesOnly(t *testing.T) {
	files, err := filepath.Glob("internal/index/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range files {
		for line, text := range lines(t, path) {
			if i := strings.Index(text, "unsafe."); i >= 0 && !strings.HasPrefix(text[i:], "unsafe.Sizeof(") {
				t.Errorf("%s:%d: %s: only unsafe.Sizeof is allowed here", path, line+1, strings.TrimSpace(text))
			}
		}
	}
}

// The module that programs require needs few others, and no rivals or checkers.
func TestRequirements(t *testing.T) {
	for line, text := range lines(t, "go.mod") {
		for _, banned := range []string{"porcupine", "fastcache", "bigcache", "freecache", "ristretto", "otter", "theine", "xsync", "phuslu", "go-cache"} {
			if strings.Contains(text, banned) {
				t.Errorf("go.mod:%d: %s: rivals belong to bench, checkers to stress", line+1, strings.TrimSpace(text))
			}
		}
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}
