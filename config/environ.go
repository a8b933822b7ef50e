package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// setting is the option that a variable sets.
type setting struct {
	cache string
	field field
}

// readEnviron reads the variables that begin with the prefix, in their order.
func (r *reader) readEnviron(prefix string) {
	prefix = strings.TrimSuffix(prefix, "_") + "_"
	values := map[string]string{}
	for _, variable := range r.environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, prefix) {
			values[name] = value
		}
	}
	r.nameCaches(prefix+"CACHES", values)
	known := r.variables(prefix)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := place{field: name}
		set, ok := known[name]
		switch {
		case name == prefix+"CACHES":
		case !ok:
			r.faults.add(at.errorf("unknown variable: want %sCACHES, or %s<cache>_<field>, of the caches %s", prefix, prefix,
				strings.Join(slices.Sorted(maps.Keys(r.caches)), ", ")))
		case values[name] != "":
			r.setVariable(set, values[name], at)
		}
	}
}

// nameCaches adds the caches that a variable lists.
func (r *reader) nameCaches(variable string, values map[string]string) {
	for name := range strings.SplitSeq(values[variable], ",") {
		name = strings.TrimSpace(name)
		if _, ok := r.caches[name]; !ok && name != "" {
			r.caches[name], r.places[name] = r.common, place{field: variable + ": " + name}
			r.notePlaces(name, r.commonPlaces)
		}
	}
}

// variables are the variables that mean something, with their meaning. Two
// caches whose variables would have one name are a fault, reported once.
func (r *reader) variables(prefix string) map[string]setting {
	known := map[string]setting{}
	for _, cache := range slices.Sorted(maps.Keys(r.caches)) {
		blamed := "" // the cache with the same names
		for _, f := range leaves(optionFields, "") {
			name := prefix + capitals(cache+"_"+f.name)
			if other, ok := known[name]; ok && other.cache != blamed {
				blamed = other.cache
				r.faults.add(place{field: name}.errorf("it would set %s of %s, and %s of %s: want names that differ by more",
					other.field.name, other.cache, f.name, cache))
			}
			known[name] = setting{cache, f}
		}
	}
	return known
}

func (r *reader) setVariable(set setting, value string, at place) {
	opts := r.caches[set.cache]
	if strings.HasPrefix(set.field.path, "Shared.TLS.") {
		opts.TLS.On = true
	}
	if err := set.field.form(value, reflect.ValueOf(&opts).Elem().FieldByIndex(set.field.index)); err != nil {
		r.faults.add(at.errorf("%w", err))
	}
	r.caches[set.cache] = opts
	r.places[set.cache+"."+set.field.path] = at
}

// expand is the text of a field below shared with ${NAME}, if that is all of it, replaced
// by the variable of that name: a file need not hold a password.
func (r *reader) expand(f field, text string) (string, error) {
	name, ok := strings.CutPrefix(text, "${")
	name, closed := strings.CutSuffix(name, "}")
	if !ok || !closed || !strings.HasPrefix(f.path, "Shared.") {
		return text, nil
	}
	for _, variable := range slices.Backward(r.environ) {
		if key, value, _ := strings.Cut(variable, "="); key == name {
			return value, nil
		}
	}
	return "", fmt.Errorf("%s names a variable that is not set", text)
}

// capitals is a name as variables have it.
func capitals(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return c
		}
		return '_'
	}, name)
}
