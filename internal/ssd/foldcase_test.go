package ssd

import (
	"errors"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// foldFS takes names that differ in case alone for one, as macOS and Windows do.
type foldFS struct{ vfs.FS }

func (f foldFS) Open(name string, how vfs.How) (vfs.File, error) {
	names, err := f.List()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			name = n
		}
	}
	return f.FS.Open(name, how)
}

// Other databases have a file LOG. Where that is log, too, it is not overwritten.
func TestForeignFileInCapitals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		if err := mem.SetBytes("LOG", []byte("2026/11/22 started\n")); err != nil {
			t.Fatal(err)
		}
		if err := w.open(testConfig(foldFS{mem}, w)); !errors.Is(err, ErrForeign) {
			t.Errorf("Open: %v, want ErrForeign", err)
		}
		if b := mem.Dump()["LOG"]; string(b) != "2026/11/22 started\n" {
			t.Errorf("the file has %d other bytes", len(b))
		}
	})
}
