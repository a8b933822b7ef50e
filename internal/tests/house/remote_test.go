package house

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// remoteRooms are the packages of module remote, from what a server is sent up to the calls of a
// store: each imports only from those before it.
var remoteRooms = []string{"internal/slots", "internal/entry", "internal/command", "internal/link", "internal/wire", "internal/cluster", "."}

func TestRemoteRooms(t *testing.T) {
	for i, room := range remoteRooms {
		files, err := filepath.Glob(filepath.Join("remote", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", room, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				name, _ := strconv.Unquote(spec.Path.Value)
				if of, ours := strings.CutPrefix(name, module+"/remote/"); ours && !slices.Contains(remoteRooms[:i], of) {
					t.Errorf("%s imports %s: want rooms before %s alone: %v", path, of, room, remoteRooms[:i])
				}
			}
		}
	}
}
