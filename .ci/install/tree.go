package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// mainModule is the one at the root of the source; the others' paths begin with it.
const mainModule = "github.com/firncache/firn"

// published are the directories of the modules that people may require. Each
// comes behind those of the others that it requires itself.
var published = []string{".", "cmd/firn", "codec", "remote", "config", "httpcache", "metrics/firnotel", "metrics/firnprometheus"}

// private are the directories of those that are for work on the source alone.
var private = []string{".ci/install", ".ci/systems", "bench", "examples", "live/browsertest", "metrics/grafana", "stress"}

// release is a published module at a version, in the copied tree.
type release struct {
	path, version string
	subdir, dir   string // below the root of the source, and in the tree
}

// tag is that of the module in a directory of the source at a version.
func tag(dir, version string) string {
	if dir == "." {
		return version
	}
	return dir + "/" + version
}

// modulePath is that of the module in a directory of the source.
func modulePath(dir string) string {
	if dir == "." {
		return mainModule
	}
	return mainModule + "/" + dir
}

// copyTree copies the source at from without what is private, and makes the
// published modules in the copy what a version of them is.
func copyTree(from, to, version string) (releases []release, err error) {
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(from, to, filepath.ToSlash(name))
		}
		if !entry.Type().IsRegular() || name == ".git" { // a file in a worktree of git
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range published {
		r := release{path: modulePath(dir), version: version, subdir: dir, dir: filepath.Join(to, dir)}
		if err := r.setVersions(); err != nil {
			return nil, err
		}
		releases = append(releases, r)
	}
	return releases, nil
}

// enter makes a directory of the copy, or says that it is not part of it.
func enter(from, to, name string) error {
	if name == ".git" || slices.Contains(private, name) {
		return filepath.SkipDir
	}
	_, err := os.Stat(filepath.Join(from, name, "go.mod"))
	if err == nil && !slices.Contains(published, name) && !strings.Contains(name, "testdata") {
		return fmt.Errorf("module %s: tree.go lists it neither among the published nor among the private ones", name)
	}
	return os.MkdirAll(filepath.Join(to, name), 0o700)
}

// setVersions makes go.mod require the same version of the other modules of the
// source, and drops what replaces them by their directories.
func (r *release) setVersions() error {
	file := filepath.Join(r.dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(file, data, nil)
	if err != nil {
		return err
	}
	if mod.Module.Mod.Path != r.path {
		return fmt.Errorf("%s: module %s, want %s", file, mod.Module.Mod.Path, r.path)
	}
	for _, q := range slices.Clone(mod.Require) {
		if ours(q.Mod.Path) {
			if err := mod.AddRequire(q.Mod.Path, r.version); err != nil {
				return err
			}
		}
	}
	for _, q := range slices.Clone(mod.Replace) {
		if !ours(q.Old.Path) {
			return fmt.Errorf("%s: replaces %s, which nobody who requires the module hears of", file, q.Old.Path)
		}
		if r.path == mainModule {
			return fmt.Errorf("%s: go install refuses a module that replaces others", file)
		}
		if err := mod.DropReplace(q.Old.Path, q.Old.Version); err != nil {
			return err
		}
	}
	mod.Cleanup()
	if data, err = mod.Format(); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// ours tells whether a module is one of the source.
func ours(path string) bool { return path == mainModule || strings.HasPrefix(path, mainModule+"/") }

// writeBack copies go.mod and go.sum of the modules to the source they are from.
func writeBack(releases []release, tree, source string) error {
	for _, r := range releases {
		dir, err := filepath.Rel(tree, r.dir)
		if err != nil {
			return err
		}
		for _, name := range []string{"go.mod", "go.sum"} {
			data, err := os.ReadFile(filepath.Join(r.dir, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(source, dir, name), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
