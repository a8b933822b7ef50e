package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// entry is a key of a mapping, and its value.
type entry struct {
	name  string
	place place // of the key
	value ast.Node
}

// readFile reads the file: defaults first, wherever they stand.
func (r *reader) readFile(data []byte) {
	root, ok := r.parse(data)
	if !ok {
		return
	}
	var defaults, caches []entry
	for _, e := range r.entries(root, "") {
		switch e.name {
		case "defaults":
			defaults = r.entries(e.value, e.place.field)
		case "caches":
			caches = r.entries(e.value, e.place.field)
		default:
			r.faults.add(e.place.errorf("unknown field: want defaults or caches"))
		}
	}
	r.readFields(defaults, optionFields, reflect.ValueOf(&r.common).Elem(), r.commonPlaces)
	for _, e := range caches {
		opts, own := r.common, map[string]place{}
		r.readFields(r.entries(e.value, e.place.field), optionFields, reflect.ValueOf(&opts).Elem(), own)
		r.caches[e.name], r.places[e.name] = opts, e.place
		r.notePlaces(e.name, r.commonPlaces)
		r.notePlaces(e.name, own)
	}
}

// notePlaces remembers where a cache's options were given.
func (r *reader) notePlaces(cache string, given map[string]place) {
	for path, p := range given {
		r.places[cache+"."+path] = p
	}
}

// parse is the file's only document, and false if there is none.
func (r *reader) parse(data []byte) (ast.Node, bool) {
	file, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0) // without a byte order mark
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Token != nil:
		r.faults.add(r.at(syntax.Token.Position.Line, syntax.Token.Position.Column, "").errorf("%s", syntax.Message))
		return nil, false
	case err != nil:
		r.faults.add(place{file: r.file}.errorf("%w", err))
		return nil, false
	}
	var roots []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType { // %YAML 1.2
			roots = append(roots, doc.Body)
		}
	}
	switch len(roots) {
	case 0:
		return nil, false
	case 1:
		return roots[0], true
	}
	r.faults.add(r.placeOf(roots[1], "").errorf("a second document: want one"))
	return nil, false
}

// entries lists a mapping. Nothing, as in "sessions:", is an empty one.
func (r *reader) entries(n ast.Node, parent string) []entry {
	mapping, ok := n.(ast.MapNode)
	if !ok {
		if n.Type() != ast.NullType {
			r.faults.add(r.placeOf(n, parent).errorf("%s: want fields with values", describe(n)))
		}
		return nil
	}
	var list []entry
	for iter := mapping.MapRange(); iter.Next(); {
		key, value := iter.Key(), iter.Value()
		name, ok := scalar(key)
		p := r.placeOf(key, strings.TrimPrefix(parent+"."+name, "."))
		if !ok || name == "" {
			p.field = parent
			r.faults.add(p.errorf("%s as the name of a field: want a plain name", describe(key)))
			continue
		}
		list = append(list, entry{name, p, value})
	}
	return list
}

// readFields reads a struct's fields, and notes in given where each was.
func (r *reader) readFields(list []entry, fields []field, opts reflect.Value, given map[string]place) {
	for _, e := range list {
		f, ok := find(fields, e.name)
		switch {
		case !ok:
			r.faults.add(e.place.errorf("unknown field: want %s", names(fields)))
		case f.form == nil:
			r.readFields(r.entries(e.value, e.place.field), f.fields, opts, given)
		default:
			r.readField(e, f, opts, given)
		}
	}
}

// readField reads a field that has a form, or is a mapping of such.
func (r *reader) readField(e entry, f field, opts reflect.Value, given map[string]place) {
	p := r.placeOf(e.value, e.place.field)
	given[f.path] = p
	if _, mapping := e.value.(ast.MapNode); mapping && f.fields != nil {
		opts.FieldByIndex(f.index).SetBool(true)
		r.readFields(r.entries(e.value, e.place.field), f.fields, opts, given)
		return
	}
	text, err := r.textOf(e.value, f)
	if err == nil {
		err = f.form(text, opts.FieldByIndex(f.index))
	}
	if err != nil {
		r.faults.add(p.errorf("%w", err))
	}
}

// textOf is the text of a field's value, a list's with commas in between.
func (r *reader) textOf(value ast.Node, f field) (string, error) {
	items := []ast.Node{value}
	if list, ok := value.(*ast.SequenceNode); ok && f.list {
		items = list.Values
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, ok := scalar(item)
		switch m, mapping := item.(*ast.MappingNode); {
		case !ok && mapping && f.list && len(m.Values) == 1: // redis:6379 of a list within {}
			plain := strings.ReplaceAll(strings.Trim(m.String(), "{} "), ": ", ":")
			return "", fmt.Errorf("a mapping: want a value: put it in quotes: %q", plain)
		case !ok:
			return "", fmt.Errorf("%s: want a value", describe(item))
		}
		var err error
		if texts[i], err = r.expand(f, text); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, ","), nil
}

func find(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// scalar is a value's text, and false if it is no plain value.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// describe says what a node is, for an error.
func describe(n ast.Node) string {
	switch n.Type() {
	case ast.NullType:
		return "nothing"
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType:
		return "an anchor, alias or tag, which are not read here"
	}
	return "a plain value"
}

func (r *reader) at(line, column int, field string) place {
	return place{r.file, line, column, field}
}

// placeOf is where a node begins. A mapping's own token is its first colon.
func (r *reader) placeOf(n ast.Node, field string) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	pos := n.GetToken().Position
	return r.at(pos.Line, pos.Column, field)
}
