package firn

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
)

// stamp identifies what the bytes of a value mean: the codec's name, the type,
// and whatever else has to be the same when they are read. It stands before the
// bytes.
type stamp uint32

const stampLen = 4

// stampOf makes a stamp of descriptions.
func stampOf(parts ...string) stamp {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return stamp(binary.LittleEndian.Uint32(h.Sum(nil)))
}

func (p stamp) append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(p))
}

// cut takes the stamp off the bytes that it stands before. Whatever does not
// begin with it was written by another.
func (p stamp) cut(b []byte) (payload []byte, ok bool) {
	if len(b) < stampLen || binary.LittleEndian.Uint32(b) != uint32(p) {
		return nil, false
	}
	return b[stampLen:], true
}

// typeName is the name of a type with the paths of its packages.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeName(t.Elem()))
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	}
	return t.String()
}

// layout describes a type so that two types with the same description can read
// each other's bytes: its name, and below it the fields of structs with their
// names, types and tags. So a struct that gained a field does not read bytes
// that lack it. A type that marshals itself is described by its name alone:
// what it keeps inside does not matter.
func layout(t reflect.Type) string {
	var b strings.Builder
	describe(&b, t, map[reflect.Type]bool{})
	return b.String()
}

func describe(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	b.WriteString(typeName(t))
	if seen[t] || marshalsItself(t) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		b.WriteString(" of ")
		describe(b, t.Elem(), seen)
	case reflect.Map:
		b.WriteString(" of ")
		describe(b, t.Key(), seen)
		b.WriteString(" to ")
		describe(b, t.Elem(), seen)
	case reflect.Struct:
		b.WriteString(" {")
		for i := range t.NumField() {
			if f := t.Field(i); f.PkgPath == "" || f.Anonymous {
				fmt.Fprintf(b, "%s %q ", f.Name, f.Tag)
				describe(b, f.Type, seen)
				b.WriteString("; ")
			}
		}
		b.WriteString("}")
	default:
		b.WriteString(" = " + t.Kind().String())
	}
}
