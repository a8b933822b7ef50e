package firn_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/FAULTS.md names exists.
func TestFaultsAreTested(t *testing.T) {
	doc, err := os.ReadFile("docs/FAULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, f := range function.FindAllSubmatch(source, -1) {
			tests[string(f[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w*)`").FindAllSubmatch(doc, -1)
	for _, name := range named {
		if !tests[string(name[1])] {
			t.Errorf("there is no %s", name[1])
		}
	}
	if len(named) == 0 {
		t.Error("no test is named")
	}
}
