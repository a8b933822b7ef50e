// Install checks that people can have the published modules: it copies the
// source, gives all of them one version, puts them where the go command looks
// for modules (a GOPROXY of files), and gets and builds each from an empty module.
// Nothing is published, and the copy goes at the end.
//
//	go run .                         the check, from this directory
//	go run . -version v1.2.3 -write  and makes the tree one to tag: CONTRIBUTING.md, "Releasing"
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	root := flag.String("root", "../..", "`DIR` of the source")
	version := flag.String("version", "v0.9.0", "`V` that the modules get")
	write := flag.Bool("write", false, "write go.mod and go.sum of the published modules as the check had them")
	flag.Parse()
	if err := check(*root, *version, *write); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

// check is the whole check of the source at root.
func check(root, version string, write bool) (err error) {
	if write {
		if err := clean(root); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp("", "firn-install-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(work); err == nil {
			err = removed
		}
	}()
	tree := filepath.Join(work, "tree")
	releases, err := copyTree(root, tree, version)
	if err != nil {
		return err
	}
	p, err := newProxy(work)
	if err != nil {
		return err
	}
	for _, r := range releases {
		if err := p.publish(r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
	}
	for _, r := range releases {
		if err := p.use(r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		fmt.Println("ok", r.path)
	}
	if write {
		return writeBack(releases, tree, root)
	}
	return nil
}

// clean is an error unless the source at root is exactly what is committed: the
// hashes that are written into go.sum are those of its files.
func clean(root string) error {
	status := exec.Command("git", "status", "--porcelain", "--ignored")
	status.Dir = root
	output, err := status.Output()
	if err == nil && len(output) > 0 {
		err = fmt.Errorf("these files are not what is committed; use a fresh clone:\n%s", output)
	}
	return err
}
