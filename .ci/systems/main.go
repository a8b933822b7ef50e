// Systems checks the types of packages and their tests for systems other than this
// one, for each file as its build constraints say. It does what a compiler does before
// it generates code, from source: nothing is compiled, the standard library neither.
//
//	go run . -dir ../.. darwin/arm64 windows/amd64
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("dir", ".", "`DIR` of the workspace")
	flag.Parse()
	failed := false
	for _, system := range flag.Args() {
		found, err := check(*dir, system)
		if err != nil {
			fmt.Fprintln(os.Stderr, "systems:", err)
		}
		fmt.Printf("%s: %d packages\n", system, found)
		failed = failed || err != nil
	}
	if failed {
		os.Exit(1)
	}
}

// check loads all packages of the workspace for a system, and says how many.
func check(dir, system string) (found int, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return 0, fmt.Errorf("%q: expected GOOS/GOARCH", system)
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, "work")
	if err != nil {
		return 0, err
	}
	if packages.PrintErrors(all) > 0 {
		err = fmt.Errorf("%s: it does not compile", system)
	}
	return len(all), err
}
