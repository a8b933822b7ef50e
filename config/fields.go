package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// codeOnly lists the fields that a file cannot describe. Every other field of
// firn.Options has to have a form in text; a test sees to it.
var codeOnly = map[string]string{
	"OnEvict":       "a function",
	"OnEvictCauses": "part of a function",
	"Tracer":        "a value with methods",
	"Clock":         "a function",
	"Log":           "a logger",
	"Shared":        "a value with methods: the fields of remote.Options stand for it",
	"Shared.TLS":    "a value with methods: the fields of tlsFiles stand for it",
	"Shared.TLS.On": "said by tls: true, or by any field below",
	"Shared.Dial":   "a function",
	"Shared.Log":    "a logger",
}

// sizes are the numbers of bytes whose names do not say so.
var sizes = map[string]bool{"SSD.WriteBudget": true, "Shared.CompressAbove": true}

// field is a field of firn.Options, or of a struct within.
type field struct {
	name   string // in snake case
	path   string // in Go: SSD.Dir
	index  []int  // for reflect.Value.FieldByIndex, from settings
	form   form   // of its text; nil for a struct
	list   bool   // of texts, which a file may also list one by one
	fields []field
}

// settings are what the fields of one cache in a file set.
type settings struct {
	Options firn.Options // but for Shared, of which these are the options:
	Remote  remote.Options
	TLS     tlsFiles
}

// optionFields are the fields of settings that have a form in text, by the names of
// firn.Options: those of Remote and TLS are below shared.
var optionFields = fieldsOfSettings()

func fieldsOfSettings() []field {
	fields, _ := fieldsOf(reflect.TypeFor[firn.Options](), "", []int{0})
	shared, _ := fieldsOf(reflect.TypeFor[remote.Options](), "Shared.", []int{1})
	tls := field{name: "tls", path: "Shared.TLS", index: []int{2, 0}, form: parseBool}
	tls.fields, _ = fieldsOf(reflect.TypeFor[tlsFiles](), "Shared.TLS.", []int{2})
	return append(fields, field{name: "shared", path: "Shared", fields: append(shared, tls)})
}

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
			list:  sf.Type == reflect.TypeFor[[]string](),
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
	case t == reflect.TypeFor[[]string]():
		return parseList
	case t.Kind() == reflect.String:
		return parseString
	case t.Kind() == reflect.Bool:
		return parseBool
	case strings.HasSuffix(path, "RAMBytes"):
		return parseMemory
	case (t.Kind() == reflect.Int64 || t.Kind() == reflect.Int) && (strings.Contains(path, "Bytes") || sizes[path]):
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

// leaves are the fields that have a form, those within structs included, with their
// names joined: ssd.dir.
func leaves(fields []field, prefix string) []field {
	var list []field
	for _, f := range fields {
		f.name = prefix + f.name
		if f.form != nil {
			list = append(list, f)
		}
		list = append(list, leaves(f.fields, f.name+".")...)
	}
	return list
}
