package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// home is the one file in which a pattern may stand.
type home struct {
	what    string // one word, for the table
	file    string // below the root; "" while there is none, and no file may begin to be it
	pattern *regexp.Regexp
}

var homes = []home{
	// The finalizer of splitmix64.
	{"mixer", "internal/record/hash.go", regexp.MustCompile(`(?i)0xbf58476d1ce4e5b9`)},
	// A look into the SSD tier, around each of which a loop looks into RAM again.
	{"ssd-then-ram", "internal/local/lookup.go", regexp.MustCompile(`\.tier\.(?:Get|GetMany|Peek)\(`)},
	// The choice between a store with a shared tier and one without, for each call again.
	{"shared-or-local", "internal/store/store.go", regexp.MustCompile(`\.Fleet [!=]= nil`)},
	// The names of metrics in Prometheus' form.
	{"metric-prefix", "live/prometheus.go", regexp.MustCompile(`"firn_"`)},
	// The advice that is drawn from a curve.
	{"curve-advice", "cmd/firn/internal/curve/verdict.go", regexp.MustCompile(`beyond it, (?:twice the )?memory`)},
}

// What one file is to know stands nowhere else.
func TestHomes(t *testing.T) {
	today := table{}
	for p, text := range productText(t) {
		for _, h := range homes {
			if n := len(h.pattern.FindAllString(text, -1)); n > 0 && p != h.file {
				today[h.what+" "+p] = []int{n}
			}
		}
	}
	b := budget{name: "homes", columns: []column{{"times", false}}, advice: homeOf}
	b.hold(t, today)
}

// homeOf says where the pattern of a row belongs.
func homeOf(row string) string {
	what, _, _ := strings.Cut(row, " ")
	i := slices.IndexFunc(homes, func(h home) bool { return h.what == what })
	if homes[i].file == "" {
		return "it stands in many files already: call one of those"
	}
	return "call what " + homes[i].file + " has of it"
}

// productText is the text of the product's files, the script of the live page too.
func productText(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, f := range allFiles(t) {
		if f.isProduct() {
			texts[f.path] = f.text
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "live/web/*.js"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		texts["live/web/"+filepath.Base(script)] = string(text)
	}
	return texts
}
