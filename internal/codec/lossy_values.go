package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// faithful makes the check for losses of a type's values in JSON. values is
// lostInJSON's.
func faithful(values bool) func(v reflect.Value, written []byte) error {
	return func(v reflect.Value, written []byte) error {
		text := bytes.Contains(written, replaced)
		if !text && !values {
			return nil
		}
		l := lossy{text: text}
		if path, why := l.lost(v); why != "" {
			if path == "" {
				path = "it"
			}
			return fmt.Errorf("%s %s, which JSON would change", path, why)
		}
		return nil
	}
}

// replaced is the text that encoding/json writes for a byte of a string that is not
// UTF-8, and for nothing else of its own.
var replaced = []byte(`\ufffd`)

// lossy looks for parts of a value that JSON loses.
type lossy struct{ text bool } // strings may not be UTF-8

// lost finds the first part of a value that JSON would change: the way to it and
// what it is.
func (l lossy) lost(v reflect.Value) (path, why string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "", ""
		}
		e := v.Elem()
		if canBeNil(e.Kind()) && e.IsNil() {
			return "", "is a pointer to nil"
		}
		return l.lost(e)
	case reflect.Interface:
		if v.IsNil() {
			return "", ""
		}
		return l.lostBehind(v.Elem())
	}
	if itself, _ := marshalsToJSON(v.Type(), true); itself {
		return "", l.lostOfText(v)
	}
	if readsItself(v.Type()) && !comesBack(v) {
		return "", "does not come back from its own method"
	}
	switch v.Kind() {
	case reflect.String:
		return "", l.lostOfString(v)
	case reflect.Slice, reflect.Array:
		if e := v.Type().Elem(); isNumber(e.Kind()) && !readsItself(e) {
			return "", ""
		}
		for i := range v.Len() {
			if path, why = l.lost(v.Index(i)); why != "" {
				return "[" + strconv.Itoa(i) + "]" + path, why
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if why = l.lostOfKey(it.Key()); why != "" {
				return fmt.Sprintf("[%q]", it.Key()), "has a key that " + why
			}
			if path, why = l.lost(it.Value()); why != "" {
				return fmt.Sprintf("[%q]", it.Key()) + path, why
			}
		}
	case reflect.Struct:
		return l.lostInStruct(v)
	}
	return "", ""
}

func (l lossy) lostOfString(v reflect.Value) (why string) {
	switch {
	case v.Len() == 0 && v.Type() == reflect.TypeFor[json.Number]():
		return "is a json.Number without digits"
	case l.text && !utf8.ValidString(v.String()):
		return "is not UTF-8"
	}
	return ""
}

// lostOfKey is lost of a key. JSON writes a string as it is, whatever its type's
// methods, and reads it with them.
func (l lossy) lostOfKey(v reflect.Value) (why string) {
	if v.Kind() != reflect.String {
		_, why = l.lost(v)
		return why
	}
	back := reflect.New(v.Type())
	if m, ok := back.Interface().(encoding.TextUnmarshaler); ok {
		if err := m.UnmarshalText([]byte(v.String())); err != nil || back.Elem().String() != v.String() {
			return "does not come back from its own method"
		}
	}
	return l.lostOfString(v)
}

// comesBack reports whether a value's own methods make it again from its JSON, as
// far as its JSON tells.
func comesBack(v reflect.Value) bool {
	written, err := json.Marshal(pointerTo(v))
	if err != nil {
		return false
	}
	back := reflect.New(v.Type()).Interface()
	if err = json.Unmarshal(written, back); err != nil {
		return false
	}
	again, err := json.Marshal(back)
	return err == nil && bytes.Equal(again, written)
}

// lostOfText is lost of a value that marshals itself.
func (l lossy) lostOfText(v reflect.Value) (why string) {
	if !l.text || implements[jsonMarshaler](v.Type()) {
		return ""
	}
	if m, ok := pointerTo(v).(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil && !utf8.Valid(text) {
			return "has a text that is not UTF-8"
		}
	}
	return ""
}

func (l lossy) lostInStruct(v reflect.Value) (path, why string) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && structOf(f.Type) != nil && nameOfTag(&f) == "":
			path, why = l.lostInEmbedded(v.Field(i))
		case f.PkgPath == "":
			path, why = l.lost(v.Field(i))
		case !v.Field(i).IsZero():
			path, why = "", "is unexported"
		}
		if why != "" {
			return "." + f.Name + path, why
		}
	}
	return "", ""
}

// lostInEmbedded is lost of an embedded struct: its fields are the outer one's,
// whatever methods it has.
func (l lossy) lostInEmbedded(v reflect.Value) (path, why string) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", ""
		}
		v = v.Elem()
	}
	return l.lostInStruct(v)
}

// lostBehind is lost of a value in an interface. It comes back as one of few
// types.
func (l lossy) lostBehind(v reflect.Value) (path, why string) {
	switch v.Interface().(type) {
	case bool, float64, string:
		return l.lost(v)
	case []any, map[string]any:
		if !v.IsNil() {
			return l.lost(v)
		}
		return "", "is a nil " + TypeName(v.Type()) + " in an interface"
	}
	return "", "is of type " + TypeName(v.Type()) + " in an interface"
}
