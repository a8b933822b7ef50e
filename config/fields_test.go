package config

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// Every field of firn.Options can be set by a file, or is listed as one that
// only a program can set.
func TestEveryOptionHasAForm(t *testing.T) {
	_, unknown := fieldsOf(reflect.TypeFor[firn.Options](), "", nil)
	_, shared := fieldsOf(reflect.TypeFor[remote.Options](), "Shared.", nil)
	_, tls := fieldsOf(reflect.TypeFor[tlsFiles](), "Shared.TLS.", nil)
	for _, path := range slices.Concat(unknown, shared, tls) {
		t.Errorf("Options.%s has no form in text: give its type UnmarshalText, extend formOf, or list it in codeOnly", path)
	}
	for path := range codeOnly {
		in, name := reflect.TypeFor[firn.Options](), path
		if below, ok := strings.CutPrefix(path, "Shared.TLS."); ok {
			in, name = reflect.TypeFor[tlsFiles](), below
		} else if below, ok := strings.CutPrefix(path, "Shared."); ok {
			in, name = reflect.TypeFor[remote.Options](), below
		}
		if !exists(in, name) {
			t.Errorf("codeOnly lists %s, which %v has not", path, in)
		}
	}
}

func exists(t reflect.Type, path string) bool {
	name, rest, deeper := strings.Cut(path, ".")
	sf, ok := t.FieldByName(name)
	return ok && (!deeper || exists(sf.Type, rest))
}

// samples are texts for fields whose type reads itself.
var samples = map[string]string{
	"WhatIf": "off", "SSD.Admission": "all", "SSD.DirectIO": "off", "SSD.Recovery": "never",
	"Shared.Degraded": "stale", "Shared.Leases": "off", "Shared.CompressAbove": "3MiB",
}

// sample is a text for a field.
func sample(t *testing.T, path string, value reflect.Value) string {
	if text, ok := samples[path]; ok {
		return text
	}
	switch {
	case reflect.PointerTo(value.Type()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		t.Fatalf("samples has no text for %s", path)
	case value.Type() == reflect.TypeFor[time.Duration]():
		return "90s"
	case value.Kind() == reflect.Bool:
		return "true"
	case value.Kind() == reflect.String:
		return "text"
	case (value.Kind() == reflect.Int64 || value.Kind() == reflect.Int) && (strings.Contains(path, "Bytes") || path == "SSD.WriteBudget"):
		return "3MiB"
	case value.Kind() == reflect.Slice:
		return "one, two"
	case value.CanFloat():
		return "0.5"
	}
	return "3"
}

// numbers are what samples stand for.
var numbers = map[string]any{"one, two": []string{"one", "two"}, "90s": 90 * time.Second, "true": true, "text": "text", "3MiB": int64(3 << 20), "0.5": 0.5, "3": 3}

// eachSetting walks the options of a cache, and those of a shared tier.
func eachSetting(set *settings, visit func(path string, v reflect.Value)) {
	for prefix, options := range map[string]any{"": &set.Options, "Shared.": &set.Remote, "Shared.TLS.": &set.TLS} {
		v := reflect.ValueOf(options).Elem()
		eachOption(v, v, prefix, visit)
	}
}

// eachOption walks the exported fields of a struct and of the structs within,
// those of codeOnly apart. It knows nothing of fieldsOf.
func eachOption(root, v reflect.Value, prefix string, visit func(path string, v reflect.Value)) {
	for i := range v.NumField() {
		path := prefix + v.Type().Field(i).Name
		if _, skip := codeOnly[path]; skip || !v.Type().Field(i).IsExported() {
			continue
		}
		_, reads := v.Field(i).Addr().Interface().(encoding.TextUnmarshaler)
		if v.Field(i).Kind() == reflect.Struct && !reads {
			eachOption(root, v.Field(i), path+".", visit)
		} else {
			visit(path, v.Field(i))
		}
	}
}

// Each field is set, and nothing else, by its name in a file, and by its
// variable.
func TestEveryOptionIsReached(t *testing.T) {
	var want settings
	count := 0
	eachSetting(&want, func(path string, v reflect.Value) {
		count++
		want = settings{}
		want.TLS.On = strings.HasPrefix(path, "Shared.TLS.")
		text := sample(t, path, v)
		if n, ok := numbers[text]; ok {
			v.Set(reflect.ValueOf(n).Convert(v.Type()))
		} else if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil || v.IsZero() {
			t.Fatalf("%s: %q: %v: want a text of something other than zero", path, text, err)
		}
		check := func(how string, r *reader) {
			if err := r.faults.err(); err != nil {
				t.Errorf("%s, %s: %v", path, how, err)
			} else if got := r.caches["c"]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: got %+v, want %+v", path, how, got, want)
			}
		}
		r := newReader("f")
		r.readFile(document(snakePath(path), text))
		check("file", r)
		r = newReader("")
		r.environ = []string{"P_CACHES=c", "P_C_" + capitals(snakePath(path)) + "=" + text}
		r.readEnviron("P")
		check("environment", r)
	})
	if count < 3 {
		t.Errorf("%d fields, want those of firn.Options", count)
	}
}

// inOrder are options that firn.Open takes, below which a fault is that of the
// one that was added.
const inOrder = "defaults:\n  ram_bytes: 1MiB\n  ssd: {dir: /var/cache/firn, bytes: 64MiB}\n  shared: {addrs: [localhost], namespace: n}\n"

// anyNegative lists the numbers that may be below zero.
var anyNegative = map[string]bool{}

// A number below zero is refused in every field, with the field's line.
func TestEveryOptionIsChecked(t *testing.T) {
	eachSetting(new(settings), func(path string, v reflect.Value) {
		text := "-3"
		switch {
		case v.Type() == reflect.TypeFor[time.Duration]():
			text = "-90s"
		case anyNegative[path] || !v.CanInt() && !v.CanUint() && !v.CanFloat():
			return
		}
		if _, reads := v.Addr().Interface().(encoding.TextUnmarshaler); reads {
			return
		}
		_, err := Source{Path: "f", Data: append(document(snakePath(path), text), inOrder...)}.Load()
		if want := "caches.c." + snakePath(path) + ": "; err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s of %s: %v: want a fault of %s", path, text, err, want)
		}
	})
}

// document is a file that sets one field of a cache c, in a line of its own.
func document(field, text string) []byte {
	var b strings.Builder
	b.WriteString("caches:\n  c:")
	indent := "\n    "
	for part := range strings.SplitSeq(field, ".") {
		b.WriteString(indent + part + ":")
		indent += "  "
	}
	b.WriteString(" " + text + "\n")
	return []byte(b.String())
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"TTL": "ttl", "RAMBytes": "ram_bytes", "MaxRAMBytes": "max_ram_bytes", "DirectIO": "direct_io", "SSD": "ssd", "RefreshAfter": "refresh_after",
	} {
		if got := snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Fields that no option has yet: structs within, types that read themselves,
// and what has no form.
func TestForms(t *testing.T) {
	type inner struct {
		Dir   string
		Level int8
	}
	type meaning uint8
	type options struct {
		Inner  inner
		When   time.Time
		Share  float64
		Count  uint16
		On     bool
		Other  meaning
		Call   func()
		hidden int
	}
	fields, unknown := fieldsOf(reflect.TypeFor[options](), "", nil)
	if got := names(leaves(fields, "")); got != "inner.dir, inner.level, when, share, count, on" {
		t.Errorf("fields %s", got)
	}
	if len(unknown) != 2 || !strings.HasPrefix(unknown[0], "Other,") || !strings.HasPrefix(unknown[1], "Call,") {
		t.Errorf("unknown %q", unknown)
	}
	var o options
	_ = o.hidden
	v := reflect.ValueOf(&o).Elem()
	texts := map[string][2]string{ // one that is right, and one that is not
		"inner.dir": {"/d", ""}, "inner.level": {"-3", "128"}, "when": {"2026-11-21T00:00:00Z", "today"},
		"share": {"0.5", "NaN"}, "count": {"3", "-1"}, "on": {"true", "yes"},
	}
	for _, f := range leaves(fields, "") {
		if err := f.form(texts[f.name][0], v.FieldByIndex(f.index)); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if bad := texts[f.name][1]; bad != "" {
			if err := f.form(bad, reflect.New(v.FieldByIndex(f.index).Type()).Elem()); err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s: %q: %v", f.name, bad, err)
			}
		}
	}
	want := options{Inner: inner{"/d", -3}, When: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Share: 0.5, Count: 3, On: true}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, want %+v", o, want)
	}
}

func TestMemory(t *testing.T) {
	limit := firn.MemoryLimit()
	for text, want := range map[string]int64{"64MiB": 64 << 20, "40%": limit / 5 * 2, "100%": limit, "2.5%": limit / 40} {
		var got int64
		err := parseMemory(text, reflect.ValueOf(&got).Elem())
		if limit == 0 && err == nil && text != "64MiB" {
			t.Errorf("%s: %d, of a limit that is not known", text, got)
		}
		if limit > 0 && (err != nil || got < want-2 || got > want+2) {
			t.Errorf("%s: %d, %v: want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"%", "0%", "-1%", "101%", "NaN%", "a%"} {
		var got int64
		if err := parseMemory(text, reflect.ValueOf(&got).Elem()); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "65536": 65536, "64KiB": 64 << 10, "64 MiB": 64 << 20, "1.5GiB": 3 << 29, "2GB": 2e9, "1TiB": 1 << 40, "-1": -1,
		"9007199254740993": 9007199254740993,
	} {
		var got int64
		if err := parseSize(text, reflect.ValueOf(&got).Elem()); err != nil || got != want {
			t.Errorf("%s: %d, %v: want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "1.5", "64MeB", "-64MiB", "16EiB", "1e3"} {
		var got int64
		if err := parseSize(text, reflect.ValueOf(&got).Elem()); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}
