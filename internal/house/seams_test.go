package house

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/firncache/firn"

// isDouble reports whether a package is a part of tests in a package of its own.
func isDouble(dir string) bool {
	return strings.HasSuffix(dir, "test") && dir != "firntest" || dir == "remote/internal/faultproxy" || dir == "internal/tests/harness"
}

// byReflection are methods that package errors calls without an interface of ours.
var byReflection = []string{"Unwrap", "Is", "As"}

// TestSeams finds exported names of internal packages that only tests use: those are for
// internal/testseam, which all of them share. It goes by names: a method counts as used if
// any method of its name is, or if it belongs to an interface.
func TestSeams(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range allFiles(t) {
		if !f.isTest() && !isDouble(f.dir()) {
			addUses(used, f)
		}
	}
	var seams []string
	for _, f := range allFiles(t) {
		if !f.isProduct() || isDouble(f.dir()) || f.dir() == "internal/testseam" || !slices.Contains(strings.Split(f.dir(), "/"), "internal") {
			continue
		}
		for _, name := range exported(f) {
			_, method, isMethod := strings.Cut(name, ".")
			if isMethod && (used["."+method] || slices.Contains(byReflection, method)) {
				continue
			}
			if !used[f.dir()+"."+name] {
				seams = append(seams, f.dir()+" "+name)
			}
		}
	}
	b := budget{name: "seams", advice: func(string) string {
		return "only tests use it: test through what the product calls, or move it to an export_test.go of its package"
	}}
	b.hold(t, exceptions(seams))
}

// exported lists the names that a file exports: Name, and Type.Method.
func exported(f *file) (names []string) {
	for _, d := range f.ast.Decls {
		prefix := ""
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
			prefix = receiver(d) + "."
		}
		for _, name := range declaredNames(d) {
			if name.IsExported() {
				names = append(names, prefix+name.Name)
			}
		}
	}
	return names
}

// addUses adds what a file uses: "dir.Name" for names of its own package and of those that
// it imports, ".Name" for fields and methods of whatever type.
func addUses(used map[string]bool, f *file) {
	imports := map[string]string{}
	for _, spec := range f.ast.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		dir := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
		local := path.Base(name)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = dir
	}
	declared := map[*ast.Ident]bool{}
	for _, d := range f.ast.Decls {
		for _, name := range declaredNames(d) {
			declared[name] = true
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				used[imports[x.Name]+"."+n.Sel.Name] = true
			}
			used["."+n.Sel.Name] = true
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, name := range method.Names {
					used["."+name.Name] = true
				}
			}
		case *ast.Ident:
			if n.IsExported() && !declared[n] {
				used[f.dir()+"."+n.Name] = true
			}
		}
		return true
	})
}

// declaredNames are the identifiers that a declaration introduces in its package.
func declaredNames(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}
