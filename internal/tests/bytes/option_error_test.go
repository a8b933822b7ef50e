package bytes

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
)

// An option that makes no sense is an error that names its field, from Open
// and from Validate alike.
func TestOptionErrorsCarryTheField(t *testing.T) {
	const ram = 1 << 20
	for _, bad := range []struct {
		field string
		opts  firn.Options
	}{
		{"RAMBytes", firn.Options{}},
		{"RAMBytes", firn.Options{RAMBytes: firn.MinRAMBytes - 1}},
		{"RAMBytes", firn.Options{RAMBytes: 1 << 62}},
		{"MaxRAMBytes", firn.Options{RAMBytes: ram, MaxRAMBytes: ram - 1}},
		{"MaxRAMBytes", firn.Options{RAMBytes: ram, MaxRAMBytes: 1 << 62}},
		{"TTL", firn.Options{RAMBytes: ram, TTL: -1}},
		{"TTL", firn.Options{RAMBytes: ram, TTL: 3600}}, // nanoseconds
		{"ExpireAfterAccess", firn.Options{RAMBytes: ram, ExpireAfterAccess: 60}},
		{"SSD.ReadTimeout", firn.Options{RAMBytes: ram, SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 16 << 20, ReadTimeout: 50}}},
		{"TTL", firn.Options{RAMBytes: ram, TTL: 200 * 365 * 24 * time.Hour}},
	} {
		c, err := firn.Open(bad.opts)
		if err == nil {
			c.Close()
		}
		var option *firn.OptionError
		if !errors.As(err, &option) || option.Field != bad.field || !strings.Contains(err.Error(), "firn: Options."+bad.field+" ") {
			t.Errorf("Open(%+v): %v: want an OptionError of %s", bad.opts, err, bad.field)
			continue
		}
		if got := bad.opts.Validate(); got == nil || got.Error() != err.Error() {
			t.Errorf("Validate: %v, and Open: %v", got, err)
		}
	}
	if err := (firn.Options{RAMBytes: ram, TTL: time.Millisecond}).Validate(); err != nil {
		t.Errorf("options in order: %v", err)
	}
}

// Nothing but badOption makes an error of an option, and each that it makes
// names a field that exists.
func TestOptionErrorsNameFields(t *testing.T) {
	files, err := filepath.Glob("../../../*.go") // of package firn
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			if name, _ := call.Fun.(*ast.Ident); name != nil && name.Name == "badOption" {
				found++
				if field := strings.Trim(literal.Value, `"`); !hasField(reflect.TypeFor[firn.Options](), field) {
					t.Errorf("%s: badOption(%s): Options has no such field", path, literal.Value)
				}
			} else if strings.HasPrefix(literal.Value, `"firn: Options.`) {
				t.Errorf("%s: %s: make it with badOption, so that the field can be found", path, literal.Value)
			}
			return true
		})
	}
	if found == 0 {
		t.Error("no call of badOption found")
	}
}

// hasField follows a path such as SSD.Dir.
func hasField(t reflect.Type, path string) bool {
	name, rest, deeper := strings.Cut(path, ".")
	field, ok := t.FieldByName(name)
	return ok && (!deeper || field.Type.Kind() == reflect.Struct && hasField(field.Type, rest))
}
