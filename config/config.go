package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/firncache/firn"
)

// Caches are the options of caches, by name.
type Caches map[string]firn.Options

// Options are the options of one cache, for what a program adds to them, such
// as OnEvict. A name that is not there is an error.
func (c Caches) Options(name string) (firn.Options, error) {
	opts, ok := c[name]
	if !ok {
		have := slices.Sorted(maps.Keys(c))
		return opts, fmt.Errorf("config: there is no cache %q: there are %s", name, strings.Join(have, ", "))
	}
	return opts, nil
}

// Open opens one of the caches. The caller closes it.
func (c Caches) Open(name string) (*firn.Cache, error) {
	opts, err := c.Options(name)
	if err != nil {
		return nil, err
	}
	cache, err := firn.Open(opts)
	if err != nil {
		return nil, fmt.Errorf("config: cache %q: %w", name, err)
	}
	return cache, nil
}

// Source says where options come from.
type Source struct {
	// Path is a file of YAML or JSON. Empty: none, the environment is all.
	Path string

	// Data is the file's content, if the program has read it already: Path
	// then only names it in errors. Default nil: the file is read.
	Data []byte

	// EnvPrefix is the prefix of the names of environment variables, without
	// the underscore that follows. Empty: the environment is not read.
	EnvPrefix string

	// Environ are the variables, as NAME=value. Default: os.Environ().
	Environ []string
}

// Load reads a file of YAML or JSON. See [Source] for the environment.
func Load(path string) (Caches, error) { return Source{Path: path}.Load() }

// Load reads the caches. It returns all of them, or all that is wrong: each
// fault is an [Error], and several are joined as by errors.Join. A file that
// cannot be read is the error of os.ReadFile.
func (s Source) Load() (Caches, error) {
	r := newReader(s.Path)
	if s.Path != "" {
		data := s.Data
		if data == nil {
			var err error
			if data, err = os.ReadFile(s.Path); err != nil {
				return nil, fmt.Errorf("config: %w", err)
			}
		}
		r.readFile(data)
	}
	if s.EnvPrefix != "" {
		environ := s.Environ
		if environ == nil {
			environ = os.Environ()
		}
		r.readEnviron(s.EnvPrefix, environ)
	}
	r.validate()
	if err := r.faults.err(); err != nil {
		return nil, err
	}
	return r.caches, nil
}

// reader is one Load under way.
type reader struct {
	file   string
	caches Caches
	faults faults

	// places tells where a cache and its options were given, keyed by the
	// cache's name, or by the name and the option's path: "sessions.SSD.Dir".
	places map[string]place

	// common are the options that every cache begins with, and where each was given.
	common       firn.Options
	commonPlaces map[string]place
}

func newReader(file string) *reader {
	return &reader{file: file, caches: Caches{}, places: map[string]place{}, commonPlaces: map[string]place{}}
}

// validate checks the options read as firn.Open would. It is of use only for
// values that could be read: after other faults it would blame the wrong ones.
func (r *reader) validate() {
	if len(r.faults.list) > 0 {
		return
	}
	if len(r.caches) == 0 {
		r.faults.add(place{file: r.file, field: "caches"}.errorf("missing: want at least one cache"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.caches)) {
		if err := r.caches[name].Validate(); err != nil {
			r.faults.add(r.blame(name, err))
		}
	}
}

// blame finds the place of the field that an error of firn.Options is about:
// where it was given, or else where the cache was.
func (r *reader) blame(cache string, err error) *Error {
	at := r.places[cache]
	var option *firn.OptionError
	if !errors.As(err, &option) {
		return at.errorf("%w", err)
	}
	if given, ok := r.places[cache+"."+option.Field]; ok {
		return given.errorf("%w", option.Err)
	}
	at.field += "." + snakePath(option.Field)
	return at.errorf("not set, and so it %w", option.Err)
}

// snakePath turns SSD.Dir into ssd.dir.
func snakePath(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		parts[i] = snake(p)
	}
	return strings.Join(parts, ".")
}
