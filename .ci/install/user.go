package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// use does what people do who begin to use a module: an empty module of their own
// gets it, and a program imports each package that there is to import; commands
// are installed.
func (p *proxy) use(r release) error {
	_, commands, err := p.program(r)
	if err != nil {
		return err
	}
	for _, c := range commands {
		if _, err := p.run(p.work, "go", "install", c+"@"+r.version); err != nil {
			return err
		}
		if err := p.saysVersion(c, r.version); err != nil {
			return err
		}
	}
	return nil
}

// saysVersion is an error unless the installed command says that it is of a version.
func (p *proxy) saysVersion(command, version string) error {
	name := filepath.Join(p.work, "bin", path.Base(command))
	said, err := p.run(p.work, name, "-version")
	if err == nil && !strings.Contains(said, version) {
		err = fmt.Errorf("%s -version: %q", command, said)
	}
	return err
}

// useAll has one program import all packages of all modules, and looks at the licences
// of everything that it and the commands are made of.
func (p *proxy) useAll(releases []release, licences string) error {
	dir, _, err := p.program(releases...)
	if err != nil {
		return err
	}
	dirs := []string{dir}
	for _, r := range releases {
		dirs = append(dirs, r.dir)
	}
	if err := p.checkLicences(dirs, licences); err != nil {
		return err
	}
	fmt.Println("ok a program that uses all, and the licences of what it is made of")
	return nil
}

// program gets modules into an empty one, in a new directory, and vets and builds a program
// that imports all of their packages. It returns the commands among them.
func (p *proxy) program(releases ...release) (dir string, commands []string, err error) {
	if dir, err = os.MkdirTemp(p.work, "user-"); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module user\n\ngo 1.26.0\n"), 0o600); err != nil {
		return "", nil, err
	}
	get, list := []string{"get"}, []string{"list", "-find", "-f", "{{.Name}} {{.ImportPath}}"}
	for _, r := range releases {
		get, list = append(get, r.path+"@"+r.version), append(list, r.path+"/...")
	}
	if _, err := p.run(dir, "go", get...); err != nil {
		return "", nil, err
	}
	packages, err := p.run(dir, "go", list...)
	if err != nil {
		return "", nil, err
	}
	libraries, commands := imports(packages)
	if len(libraries) == 0 {
		return "", nil, errors.New("no package to import")
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source(libraries), 0o600); err != nil {
		return "", nil, err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"vet", "."}, {"build", "-o", filepath.Join(dir, "user.exe"), "."}} {
		if _, err := p.run(dir, "go", args...); err != nil {
			return "", nil, err
		}
	}
	return dir, commands, nil
}

// imports sorts lines of package names and paths into what others may import and
// commands. What is internal is neither.
func imports(lines string) (libraries, commands []string) {
	for line := range strings.Lines(lines) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.Contains(path+"/", "/internal/"):
		case name == "main":
			commands = append(commands, path)
		default:
			libraries = append(libraries, path)
		}
	}
	return libraries, commands
}

// source is a program that imports packages and does nothing.
func source(packages []string) []byte {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range packages {
		fmt.Fprintf(&b, "\t_ %q\n", path)
	}
	b.WriteString(")\n\nfunc main() {}\n")
	return []byte(b.String())
}
