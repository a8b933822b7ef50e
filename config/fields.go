package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/firncache/firn"
)

// codeOnly lists the fields that a file cannot describe. Every other field of
// firn.Options has to have a form in text; a test sees to it.
var codeOnly = map[string]string{
	"OnEvict":       "a function",
	"OnEvictCauses": "part of a function",
	"Tracer":        "a value with methods",
	"Clock":         "a function",
	"Log":           "a logger",
}

// sizes are the numbers of bytes whose names do not say so.
var sizes = map[string]bool{"SSD.WriteBudget": true}

// field is a field of firn.Options, or of a struct within.
type field struct {
	name   string // in snake case
	path   string // in Go: SSD.Dir
	index  []int  // for reflect.Value.FieldByIndex, from firn.Options
	form   form   // of its text; nil for a struct
	fields []field
}

// optionFields are the fields of firn.Options that have a form in text.
var optionFields, _ = fieldsOf(reflect.TypeFor[firn.Options](), "", nil)

// fieldsOf lists a struct's fields. Those of unknown form, and not in codeOnly,
// are in unknown.
func fieldsOf(t reflect.Type, prefix string, index []int) (known []field, unknown []string) {
	for i := range t.NumField() {
		sf := t.Field(i)
		f := field{
			name:  snake(sf.Name),
			path:  prefix + sf.Name,
			index: append(index[:len(index):len(index)], i),
			form:  formOf(prefix+sf.Name, sf.Type),
		}
		_, skip := codeOnly[f.path]
		switch {
		case skip || !sf.IsExported():
		case f.form != nil:
			known = append(known, f)
		case sf.Type.Kind() == reflect.Struct:
			var below []string
			f.fields, below = fieldsOf(sf.Type, f.path+".", f.index)
			known, unknown = append(known, f), append(unknown, below...)
		default:
			unknown = append(unknown, fmt.Sprintf("%s, of type %s", f.path, sf.Type))
		}
	}
	return known, unknown
}

// formOf is the form of a field's text, nil if there is none.
func formOf(path string, t reflect.Type) form {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return parseText
	case t == reflect.TypeFor[time.Duration]():
		return parseDuration
	case t.PkgPath() != "" && t.Kind() != reflect.String: // a number with a meaning of its own
		return nil
	case t.Kind() == reflect.String:
		return parseString
	case t.Kind() == reflect.Bool:
		return parseBool
	case t.Kind() == reflect.Int64 && (strings.Contains(path, "Bytes") || sizes[path]):
		return parseSize
	case reflect.Zero(t).CanInt():
		return parseInt
	case reflect.Zero(t).CanUint():
		return parseUint
	case reflect.Zero(t).CanFloat():
		return parseFloat
	}
	return nil
}

// snake turns MaxRAMBytes into max_ram_bytes.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// names lists the fields for a message.
func names(fields []field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.name
	}
	return strings.Join(list, ", ")
}

// leaves are the fields that are no structs, those within structs included,
// with their names joined: ssd.dir.
func leaves(fields []field, prefix string) []field {
	var list []field
	for _, f := range fields {
		f.name = prefix + f.name
		if f.form == nil {
			list = append(list, leaves(f.fields, f.name+".")...)
		} else {
			list = append(list, f)
		}
	}
	return list
}
