package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy is a GOPROXY of files, and an environment in which the go command knows
// the modules of the source from there alone.
type proxy struct {
	work, dir string
	env       []string
}

// newProxy makes an empty proxy below work, for a go command with a flag -mod. Other modules come from Go's cache as
// far as it has them. The modules of the source go to a cache that is used once,
// because they are of the same version each time; with -trimpath what is compiled from
// there is the same in each run, and in each step of .ci/run.
func newProxy(work, mod string) (*proxy, error) {
	p := &proxy{work: work, dir: filepath.Join(work, "proxy")}
	known := map[string]string{}
	output, err := exec.Command("go", "env", "-json", "GOPROXY", "GOMODCACHE", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := json.Unmarshal(output, &known); err != nil {
		return nil, err
	}
	cache := filepath.Join(known["GOMODCACHE"], "cache", "download")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	p.env = append(os.Environ(),
		"GOPROXY="+strings.Join([]string{fileURL(p.dir), fileURL(cache), known["GOPROXY"]}, ","),
		"GOMODCACHE="+filepath.Join(work, "modules"),
		"GOBIN="+filepath.Join(work, "bin"),
		"GOFLAGS="+known["GOFLAGS"]+" "+mod+" -modcacherw -trimpath",
		"GOSUMDB=off",
		"GOWORK=off", "GOTOOLCHAIN=local",
	)
	return p, os.MkdirAll(p.dir, 0o755)
}

// absolute is a directory's whole path.
func absolute(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}
	return dir
}

func fileURL(dir string) string {
	slashed := filepath.ToSlash(dir)
	if !strings.HasPrefix(slashed, "/") { // C:/...
		slashed = "/" + slashed
	}
	return "file://" + slashed
}

// run runs a command in dir, and returns what it prints.
func (p *proxy) run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, p.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// commit commits all files of a tree.
func (p *proxy) commit(tree, message string) error {
	if _, err := p.run(tree, "git", "add", "--all", "--force"); err != nil {
		return err
	}
	_, err := p.run(tree, "git", "-c", "user.name=install", "-c", "user.email=install@localhost", "commit", "-q", "--allow-empty", "-m", message)
	return err
}

// sameCommit is an error unless two tags are on one commit.
func (p *proxy) sameCommit(tree, one, two string) error {
	commits, err := p.run(tree, "git", "rev-parse", one+"^{commit}", two+"^{commit}")
	if err != nil {
		return err
	}
	if fields := strings.Fields(commits); fields[0] != fields[1] {
		return fmt.Errorf("tags %s and %s are on two commits", one, two)
	}
	return nil
}

// publish puts a module at its version into the proxy, as the go command makes it of a
// revision: that of a directory has the repository's licence.
func (p *proxy) publish(tree, revision string, r release) error {
	escaped, err := module.EscapePath(r.path)
	if err != nil {
		return err
	}
	dir := filepath.Join(p.dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(r.dir, "go.mod"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	subdir := strings.TrimPrefix(r.subdir, ".")
	if err := zip.CreateFromVCS(&archive, module.Version{Path: r.path, Version: r.version}, tree, revision, subdir); err != nil {
		return err
	}
	if !bytes.Contains(archive.Bytes(), []byte(r.path+"@"+r.version+"/LICENSE")) {
		return errors.New("its zip has no LICENSE")
	}
	info, err := json.Marshal(map[string]any{"Version": r.version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(r.version + "\n"), r.version + ".info": info, r.version + ".mod": mod, r.version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// tidy runs go mod tidy, which may add the hashes of modules of the source to
// go.sum, and change nothing else.
func (p *proxy) tidy(r release) error {
	var before, after [2]string
	for _, found := range []*[2]string{&before, &after} {
		for i, name := range []string{"go.mod", "go.sum"} {
			data, err := os.ReadFile(filepath.Join(r.dir, name))
			if err != nil {
				return err
			}
			found[i] = string(data)
		}
		if found == &before {
			if _, err := p.run(r.dir, "go", "mod", "tidy"); err != nil {
				return err
			}
		}
	}
	if before[0] != after[0] || withoutOurs(before[1]) != withoutOurs(after[1]) {
		return fmt.Errorf("not tidy: run go mod tidy\n%s", differences(before, after))
	}
	return nil
}

// withoutOurs is go.sum without the hashes of modules of the source.
func withoutOurs(sum string) string {
	lines := strings.SplitAfter(sum, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		path, _, _ := strings.Cut(line, " ")
		return ours(path)
	}), "")
}

// differences lists the lines that only one of two versions of go.mod and go.sum has.
func differences(before, after [2]string) string {
	var b strings.Builder
	for i := range before {
		old, now := strings.Split(before[i], "\n"), strings.Split(after[i], "\n")
		for _, line := range old {
			if !slices.Contains(now, line) {
				fmt.Fprintln(&b, "-", line)
			}
		}
		for _, line := range now {
			if !slices.Contains(old, line) && !ours(strings.SplitN(line, " ", 2)[0]) {
				fmt.Fprintln(&b, "+", line)
			}
		}
	}
	return b.String()
}
