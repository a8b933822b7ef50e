package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// lostInJSON names the part of a type that encoding/json cannot bring back, if any.
// Where that depends on the value, values is true, and faithful says then.
func lostInJSON(t reflect.Type) (values bool, err error) {
	if t.Kind() == reflect.Interface {
		return false, fmt.Errorf("%s is an interface: its values' types would be lost: set a Codec", TypeName(t))
	}
	j := &jsonTypes{seen: map[jsonPlace]bool{}}
	if path, why := j.lost(jsonPlace{t: t, addressable: true}); why != "" {
		return false, fmt.Errorf("%s%s %s and would be lost in JSON: set a Codec, or the tag `json:\"-\"`", TypeName(t), path, why)
	}
	return j.values, nil
}

// jsonTypes looks at all types that a type is made of.
type jsonTypes struct {
	seen   map[jsonPlace]bool
	values bool // some of their values would lose something
}

// jsonPlace is a type where it is used.
type jsonPlace struct {
	t           reflect.Type
	addressable bool // JSON uses the methods of pointers to it, too
	binary      bool // within a type that marshals itself, but not to JSON
	optional    bool // behind a pointer there: the lost part may be absent
}

func (at jsonPlace) to(t reflect.Type, addressable bool) jsonPlace {
	at.t, at.addressable = t, addressable
	return at
}

// lost finds the first part of a type that JSON loses: the way to it and the
// reason.
func (j *jsonTypes) lost(at jsonPlace) (path, why string) {
	if j.seen[at] {
		return "", ""
	}
	j.seen[at] = true
	t := at.t
	if itself, why := marshalsToJSON(t, at.addressable); itself || why != "" {
		return "", why
	}
	j.values = j.values || t == reflect.TypeFor[json.Number]() || readsItself(t)
	at.binary = at.binary || isBinary(t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return "", "is of type " + t.String()
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return "", "is of interface type " + t.String()
		}
		j.values = true
	case reflect.Pointer:
		j.values = j.values || canBeNil(t.Elem().Kind())
		at.optional = at.binary
		return j.lost(at.to(t.Elem(), true))
	case reflect.Slice:
		return j.lost(at.to(t.Elem(), true))
	case reflect.Array:
		return j.lost(at.to(t.Elem(), at.addressable))
	case reflect.Map:
		if why = lostKey(t.Key()); why != "" {
			return "", why
		}
		j.values = j.values || t.Key().Kind() == reflect.String && readsItself(t.Key())
		return j.lost(at.to(t.Elem(), false))
	case reflect.Struct:
		f := jsonFields{jsonTypes: j, at: at, named: map[string]string{}}
		return f.lost(t, "", nil)
	}
	return "", ""
}

// canBeNil reports whether JSON writes null for some values of a kind, as for a
// pointer that is nil.
func canBeNil(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Map || k == reflect.Slice || k == reflect.Interface
}

// marshalsToJSON reports whether the methods of a type decide its JSON,
// and why they cannot.
func marshalsToJSON(t reflect.Type, addressable bool) (itself bool, why string) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false, ""
	}
	toJSON, fromJSON := implements[jsonMarshaler](t), implements[jsonUnmarshaler](t)
	toText, fromText := implements[encoding.TextMarshaler](t), implements[encoding.TextUnmarshaler](t)
	writes, reads := toTextMethod, fromTextMethod // which are used, if there are any
	if toJSON {
		writes = toJSONMethod
	}
	if fromJSON {
		reads = fromJSONMethod
	}
	if why = promotion(t, writes, reads); why != "" {
		return false, why
	}
	switch {
	case toJSON && !fromJSON && !(toText && fromText):
		return false, "has MarshalJSON and no UnmarshalJSON"
	case !toJSON && toText && !fromText && !fromJSON:
		return false, "has MarshalText and no UnmarshalText"
	case !toJSON && !toText && fromText && !fromJSON && t.Kind() != reflect.String && t.Kind() != reflect.Slice:
		return false, "has UnmarshalText and no MarshalText"
	case !toJSON && !toText:
		return false, ""
	case !addressable && !is[jsonMarshaler](t) && !is[encoding.TextMarshaler](t):
		return false, "has its methods as *" + t.String() + ", which JSON does not use in a map,"
	}
	return true, ""
}

// readsItself reports whether a type has a say in the meaning of its JSON. Where it
// has none in the JSON itself, whether it comes back depends on the value.
func readsItself(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface &&
		(implements[jsonUnmarshaler](t) || implements[encoding.TextUnmarshaler](t))
}

// is is implements of t itself.
func is[T any](t reflect.Type) bool { return t.Implements(reflect.TypeFor[T]()) }

// lostKey says why JSON cannot bring back the keys of a map.
func lostKey(t reflect.Type) (why string) {
	written, read := is[encoding.TextMarshaler](t), is[encoding.TextUnmarshaler](reflect.PointerTo(t))
	switch k := t.Kind(); {
	case k == reflect.String:
		return ""
	case written && read && k != reflect.Interface && k != reflect.Pointer:
		return promotion(t, toTextMethod, fromTextMethod)
	case IsInteger(k) && !written && !read:
		return ""
	}
	return "has keys of type " + t.String()
}

// jsonFields are the fields of a struct as JSON sees them: those of embedded
// structs are its own.
type jsonFields struct {
	*jsonTypes
	at    jsonPlace
	named map[string]string // the fields so far, by their names in JSON
}

// lost looks at the fields of t, which stands at path in the struct. outer are
// the structs on the way there.
func (s *jsonFields) lost(t reflect.Type, path string, outer []reflect.Type) (lostPath, why string) {
	for i := range t.NumField() {
		f := t.Field(i)
		here := path + "." + f.Name
		name := nameOfTag(&f)
		inner := structOf(f.Type)
		switch {
		case f.Tag.Get("json") == "-" || f.Name == "_":
			continue
		case f.PkgPath != "" && (!f.Anonymous || inner == nil || name != "" || f.Type.Kind() == reflect.Pointer):
			if !s.at.optional {
				return here, "is unexported"
			}
			s.values = true
			continue
		case f.Anonymous && inner != nil && name == "":
			if slices.Contains(outer, inner) || inner == t {
				return here, "is embedded in itself"
			}
			before := len(s.named)
			if lostPath, why = s.lost(inner, here, append(outer, t)); why != "" {
				return lostPath, why
			}
			if f.Type.Kind() == reflect.Pointer && len(s.named) == before {
				return here, "is an embedded pointer to a struct without fields"
			}
			continue
		case name == "":
			name = f.Name
		}
		if other, taken := s.named[name]; taken {
			return here, fmt.Sprintf("has the name %q in JSON, as %s has,", name, other)
		}
		s.named[name] = here
		if rest, why := s.jsonTypes.lost(s.at.to(f.Type, s.at.addressable)); why != "" {
			return here + rest, why
		}
	}
	return "", ""
}

// nameOfTag is the name that a field's tag gives it, empty without one.
func nameOfTag(f *reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !isJSONName(name) {
		return ""
	}
	return name
}

// isJSONName reports whether encoding/json takes a name from a tag.
func isJSONName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}

// structOf is the struct type that t is or points to, nil without one.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}
