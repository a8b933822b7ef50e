package firn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

type (
	jsonMarshaler   = json.Marshaler
	jsonUnmarshaler = json.Unmarshaler
)

// jsonCodec is encoding/json. Values pass through holders, as in binaryCodec.
type jsonCodec[V any] struct{ holders sync.Pool } // of *jsonHolder[V]

type jsonHolder[V any] struct {
	v       V
	out     []byte
	encoder *json.Encoder // writes to out
}

// Write makes a holder the io.Writer of its encoder.
func (h *jsonHolder[V]) Write(p []byte) (int, error) {
	h.out = append(h.out, p...)
	return len(p), nil
}

// JSONCodec is the codec of encoding/json. What that package does not write is
// lost: unexported fields, the dynamic types of interface values, the
// difference between nil and empty where a tag says omitempty.
func JSONCodec[V any]() Codec[V] {
	c := &jsonCodec[V]{}
	c.holders.New = func() any {
		h := &jsonHolder[V]{}
		h.encoder = json.NewEncoder(h)
		h.encoder.SetEscapeHTML(false)
		return h
	}
	return c
}

func (c *jsonCodec[V]) Name() string { return jsonName }

func (c *jsonCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	h := c.holders.Get().(*jsonHolder[V])
	h.v, h.out = v, dst
	err := h.encoder.Encode(&h.v)
	out := h.out
	c.release(h)
	if err != nil {
		return dst, err
	}
	return out[:len(out)-1], nil // without the newline
}

func (c *jsonCodec[V]) Decode(src []byte) (v V, err error) {
	h := c.holders.Get().(*jsonHolder[V])
	if err = json.Unmarshal(src, &h.v); err == nil {
		v = h.v
	}
	c.release(h)
	return v, err
}

func (c *jsonCodec[V]) release(h *jsonHolder[V]) {
	var none V
	h.v, h.out = none, nil
	c.holders.Put(h)
}

// lostInJSON says what encoding/json cannot bring back of a type, if anything.
func lostInJSON(t reflect.Type) error {
	if t.Kind() == reflect.Interface {
		return fmt.Errorf("%s is an interface: its values' types would be lost: set a Codec", typeName(t))
	}
	if path, why := lostField(t, nil); why != "" {
		return fmt.Errorf("%s%s %s and would be lost in JSON: set a Codec, or the tag `json:\"-\"`", typeName(t), path, why)
	}
	return nil
}

// lostField finds the first part of a type that JSON loses: the way to it and
// the reason. outer are the types on the way here.
func lostField(t reflect.Type, outer []reflect.Type) (path, why string) {
	for _, o := range outer {
		if o == t {
			return "", ""
		}
	}
	outer = append(outer, t)
	if marshalsItself(t) {
		return "", ""
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return "", "is of type " + t.String()
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return "", "is of interface type " + t.String()
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return lostField(t.Elem(), outer)
	case reflect.Map:
		if path, why = lostField(t.Key(), outer); why == "" {
			path, why = lostField(t.Elem(), outer)
		}
		return path, why
	case reflect.Struct:
		return lostInStruct(t, outer)
	}
	return "", ""
}

func lostInStruct(t reflect.Type, outer []reflect.Type) (path, why string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && structOf(f.Type) != nil
		switch {
		case f.Tag.Get("json") == "-" || f.Name == "_":
			continue
		case f.PkgPath != "" && (!embedded || tag != "" || f.Type.Kind() == reflect.Pointer):
			return "." + f.Name, "is unexported"
		}
		if path, why = lostField(f.Type, outer); why != "" {
			return "." + f.Name + path, why
		}
	}
	return "", ""
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
