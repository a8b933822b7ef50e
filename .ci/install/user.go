package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// use does what people do who begin to use a module: an empty module of their own
// gets it, and a program imports each package that there is to import; commands
// are installed.
func (p *proxy) use(r release) error {
	dir, err := os.MkdirTemp(p.work, "user-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module user\n\ngo 1.26.0\n"), 0o600); err != nil {
		return err
	}
	if _, err := p.run(dir, "go", "get", r.path+"@"+r.version); err != nil {
		return err
	}
	packages, err := p.run(dir, "go", "list", "-f", "{{.Name}} {{.ImportPath}}", r.path+"/...")
	if err != nil {
		return err
	}
	libraries, commands := imports(packages)
	if len(libraries) == 0 {
		return errors.New("no package to import")
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), program(libraries), 0o600); err != nil {
		return err
	}
	if _, err := p.run(dir, "go", "build", "-o", filepath.Join(dir, "user.exe"), "."); err != nil {
		return err
	}
	for _, c := range commands {
		if _, err := p.run(dir, "go", "install", c+"@"+r.version); err != nil {
			return err
		}
	}
	return nil
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

// program is one that imports packages and does nothing.
func program(packages []string) []byte {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range packages {
		fmt.Fprintf(&b, "\t_ %q\n", path)
	}
	b.WriteString(")\n\nfunc main() {}\n")
	return []byte(b.String())
}
