package house

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// listBegins is the line of a doc.go after which the files of the package are listed, and
// sourceName a name of a list, which may be a pattern.
var (
	listBegins = regexp.MustCompile(`(?m)^// (# Files$|The files[ :,])`)
	sourceName = regexp.MustCompile(`[\w*]+\.(?:go|s)\b`)
)

// Where a doc.go lists the files of its package, all its files are in the list, and all
// names of the list are files.
func TestLists(t *testing.T) {
	lists := 0
	for _, r := range allRooms(t) {
		i := slices.IndexFunc(r.files, func(f *file) bool { return f.name() == "doc.go" })
		if i < 0 || !listBegins.MatchString(r.files[i].text) {
			continue
		}
		lists++
		doc := r.files[i]
		at := listBegins.FindStringIndex(doc.text)
		listed := sourceName.FindAllString(doc.text[at[1]:], -1)
		for _, name := range listed {
			if found, _ := filepath.Glob(filepath.Join(root, r.dir, name)); len(found) == 0 {
				t.Errorf("%s lists %s, which is not there: take it out of the list, or correct its name", doc.path, name)
			}
		}
		for _, f := range r.files {
			if f != doc && !slices.ContainsFunc(listed, func(name string) bool { ok, _ := path.Match(name, f.name()); return ok }) {
				t.Errorf("%s does not list %s: say in the list what it is for", doc.path, f.name())
			}
		}
	}
	if lists == 0 {
		t.Error("no doc.go has a list of files")
	}
}
