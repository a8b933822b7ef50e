package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"github.com/firncache/firn/internal/codec/plan"
)

// Fingerprint identifies the meaning of a value's bytes: the codec's name, the
// type, and whatever else has to be the same when they are read. It stands before
// the bytes.
type Fingerprint uint32

// FingerprintLen is the length of a Fingerprint in bytes.
const FingerprintLen = 4

// FingerprintOf makes a Fingerprint of descriptions.
func FingerprintOf(parts ...string) Fingerprint {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return Fingerprint(binary.LittleEndian.Uint32(h.Sum(nil)))
}

// Append appends the bytes of f to dst.
func (f Fingerprint) Append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(f))
}

// Cut takes f off the bytes that it stands before. Bytes that do not begin with
// it was written by another.
func (f Fingerprint) Cut(b []byte) (payload []byte, ok bool) {
	if len(b) < FingerprintLen || binary.LittleEndian.Uint32(b) != uint32(f) {
		return nil, false
	}
	return b[FingerprintLen:], true
}

// TypeName is the name of a type with the paths of its packages.
func TypeName(t reflect.Type) string { return plan.TypeName(t) }

// Layout describes a type so that two types with the same description can read
// each other's bytes: its name, and below it the fields of structs with their
// names, types and tags. So a struct that gained a field does not read bytes
// that lack it. A type that marshals itself is described by its name alone:
// its internal state does not matter. It is empty for a codec whose name says all of it.
func Layout(codecName string, t reflect.Type) string {
	if strings.HasPrefix(codecName, planName+" ") {
		return ""
	}
	var b strings.Builder
	describe(&b, t, map[reflect.Type]bool{})
	return b.String()
}

func describe(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	b.WriteString(TypeName(t))
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

// marshalsItself reports whether a type's own methods decide its bytes.
func marshalsItself(t reflect.Type) bool {
	return plan.BinaryMethods(t) != nil || plan.TextMethods(t) != nil || plan.JSONMethods(t) != nil
}
