package house

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// No file declares a type that has methods and adds methods to a type of another file.
func TestHalves(t *testing.T) {
	var found []string
	for _, r := range allRooms(t) {
		for _, f := range halves(r.files) {
			found = append(found, f.path)
		}
	}
	b := budget{name: "halves", advice: func(string) string {
		return "put the type with its methods into a file of its own, or the other type's methods where that is declared"
	}}
	b.hold(t, exceptions(found))
}

// halves are the files of a package that declare a type that has methods, wherever, and
// have methods of a type that they do not declare.
func halves(files []*file) (found []*file) {
	hasMethods := map[string]bool{}
	for _, f := range files {
		for _, typ := range receivers(f.ast) {
			hasMethods[typ] = true
		}
	}
	for _, f := range files {
		declared := declaredTypes(f.ast)
		declares := slices.ContainsFunc(declared, func(typ string) bool { return hasMethods[typ] })
		adds := slices.ContainsFunc(receivers(f.ast), func(typ string) bool { return !slices.Contains(declared, typ) })
		if declares && adds {
			found = append(found, f)
		}
	}
	return found
}

func declaredTypes(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, name := range declaredNames(d) {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// receivers are the types whose methods a file has.
func receivers(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
			names = append(names, receiver(d))
		}
	}
	return names
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func TestHalfIsFound(t *testing.T) {
	var files []*file
	for name, text := range map[string]string{
		"whole.go":   "type A[K any] struct{}\nfunc (a *A[K]) M() {}",
		"more.go":    "type plain int\nfunc (a *A[K]) N() {}",
		"half.go":    "type B struct{}\nfunc (b B) M() {}\nfunc (a A[K]) O() {}",
		"head.go":    "type C struct{}\nfunc (b B) N() {}",
		"rest.go":    "func (c C) M() {}",
		"nothing.go": "func f() {}",
	} {
		f, err := parseText("p/"+name, "package p\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	got := names(halves(files))
	slices.Sort(got)
	if want := []string{"half.go", "head.go"}; !slices.Equal(got, want) {
		t.Errorf("halves: %v, want %v", got, want)
	}
}
