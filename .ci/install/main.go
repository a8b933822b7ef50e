// Install checks that people can have the published modules: it copies the source into
// a repository of its own, gives all modules one version, commits and tags them there,
// makes what the go command makes of these tags (a GOPROXY of files), and uses each from an
// empty module. Nothing is published, and the copy goes at the end.
//
//	go run .                          the check, from this directory
//	go run . -version v1.2.3 -write   and makes the tree one to tag: CONTRIBUTING.md, "Releasing"
//	go run . -version v1.2.3 -tagged  checks the tags of that version, before they are pushed
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
	version := flag.String("version", "v0.1.0", "`V` that the modules get")
	write := flag.Bool("write", false, "write go.mod and go.sum of the published modules as the check had them")
	tagged := flag.Bool("tagged", false, "check the tags that the source has")
	flag.Parse()
	if err := inWork(func(work string) error {
		if *tagged {
			return verify(*root, *version, filepath.Join(*root, licences), work)
		}
		return check(*root, *version, *write, work)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

// inWork runs f with a directory that is removed when it returns.
func inWork(f func(work string) error) (err error) {
	work, err := os.MkdirTemp("", "firn-install-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(work); err == nil {
			err = removed
		}
	}()
	return f(work)
}

// check is the whole check of the source at root.
func check(root, version string, write bool, work string) error {
	if write {
		if err := clean(root); err != nil {
			return err
		}
	}
	tree := filepath.Join(work, "tree")
	releases, err := copyTree(root, tree, version)
	if err != nil {
		return err
	}
	if err := tagTree(tree, version, releases, filepath.Join(work, "tidy")); err != nil {
		return err
	}
	if err := verify(tree, version, filepath.Join(root, licences), filepath.Join(work, "verify")); err != nil || !write {
		return err
	}
	return writeBack(releases, tree, root)
}

// tagTree makes a repository of the copied tree, and tags each module once its go.sum has
// the hashes of those before it. Later commits change no file of an earlier module, so in
// the end all tags are on the last commit.
func tagTree(tree, version string, releases []release, work string) error {
	p, err := newProxy(work, "-mod=mod")
	if err != nil {
		return err
	}
	if _, err := p.run(tree, "git", "init", "-q"); err != nil {
		return err
	}
	for _, r := range releases {
		if err := p.tidy(r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		if err := p.commit(tree, r.path); err != nil {
			return err
		}
		if err := p.publish(tree, "HEAD", r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
	}
	for _, dir := range published {
		if _, err := p.run(tree, "git", "tag", tag(dir, version)); err != nil {
			return err
		}
	}
	return nil
}

// verify uses the modules as the tags of a repository have them: each is built where it
// lies, with the hashes of its go.sum, and from an empty module.
func verify(repository, version, licences, work string) error {
	p, err := newProxy(work, "-mod=readonly")
	if err != nil {
		return err
	}
	tree := filepath.Join(work, "tagged")
	if _, err := p.run(work, "git", "clone", "-q", "--branch", version, "file://"+absolute(repository), tree); err != nil {
		return err
	}
	var releases []release
	for _, dir := range published {
		if err := p.sameCommit(tree, version, tag(dir, version)); err != nil {
			return err
		}
		r := release{path: modulePath(dir), version: version, subdir: dir, dir: filepath.Join(tree, dir)}
		if err := p.publish(tree, tag(dir, version), r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		releases = append(releases, r)
	}
	for _, r := range releases {
		if _, err := p.run(r.dir, "go", "build", "./..."); err != nil {
			return fmt.Errorf("%s, where it lies: %w", r.path, err)
		}
		if err := p.use(r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		fmt.Println("ok", r.path)
	}
	return p.useAll(releases, licences)
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
