package house

import (
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// withExamples are the packages whose examples the package site shows.
var withExamples = []string{
	".", "bufpool", "codec/cbor", "codec/compress", "codec/gojson", "codec/msgpack", "codec/protobuf", "config", "firntest", "httpcache", "live",
	"metrics/firnexpvar", "metrics/firnotel", "metrics/firnprometheus", "remote",
}

// Each package has examples, and the package site can run each: what an example takes from
// its package's tests is in its file.
func TestExamplesRun(t *testing.T) {
	for _, dir := range withExamples {
		names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, example := range doc.Examples(file) {
				found++
				if example.Play == nil {
					t.Errorf("%s: Example%s has no Run button: it takes something from another file", name, example.Name)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no example", dir)
		}
	}
}
