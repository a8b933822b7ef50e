package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// Caches are the options of caches, by name.
type Caches map[string]firn.Options

// Options are the options of one cache, for what a program adds to them, such
// as OnEvict. A name that is not there is an error. A shared tier in them is a new one each
// time, and connects to nobody before firn.Open.
func (c Caches) Options(name string) (firn.Options, error) {
	opts, ok := c[name]
	if !ok {
		have := slices.Sorted(maps.Keys(c))
		return opts, fmt.Errorf("config: there is no cache %q: there are %s", name, strings.Join(have, ", "))
	}
	if tier, ok := opts.Shared.(*remote.Tier); ok { // which serves one cache, once
		fresh, err := remote.Open(tier.Options())
		if err != nil {
			return opts, fmt.Errorf("config: cache %q: %w", name, err)
		}
		opts.Shared = fresh
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
	// then only names it in errors, as data if it is empty. Default nil: the
	// file is read.
	Data []byte

	// EnvPrefix is the prefix of the names of environment variables, without
	// the underscore that follows. Empty: no variable is read but those that the file
	// names as ${NAME}.
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
	if s.Path == "" && s.Data != nil {
		s.Path = "data"
	}
	r := newReader(s.Path)
	if s.Environ != nil {
		r.environ = s.Environ
	}
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
		r.readEnviron(s.EnvPrefix)
	}
	caches := r.validate()
	if err := r.faults.err(); err != nil {
		return nil, err
	}
	return caches, nil
}

// reader is one Load under way.
type reader struct {
	file    string
	environ []string // as NAME=value
	caches  map[string]settings
	faults  faults

	// places tells where a cache and its options were given, keyed by the
	// cache's name, or by the name and the option's path: "sessions.SSD.Dir".
	places map[string]place

	// common are the options that every cache begins with, and where each was given.
	common       settings
	commonPlaces map[string]place
}

func newReader(file string) *reader {
	return &reader{file: file, environ: os.Environ(), caches: map[string]settings{}, places: map[string]place{}, commonPlaces: map[string]place{}}
}

// validate checks the options read as firn.Open would, and returns them. It is of use only
// for values that could be read: after other faults it would blame the wrong ones.
func (r *reader) validate() Caches {
	if len(r.faults.list) > 0 {
		return nil
	}
	if len(r.caches) == 0 {
		r.faults.add(place{file: r.file, field: "caches"}.errorf("missing: want at least one cache"))
	}
	caches, dirs := Caches{}, map[string]string{} // the cache of each directory
	for _, name := range slices.Sorted(maps.Keys(r.caches)) {
		set := r.caches[name]
		set.Options.Shared = r.readShared(name, &set)
		if ssd := &set.Options.SSD; ssd.Dir == "" && ssd.Bytes != 0 {
			ssd.Dir = userDir(name)
		}
		if dir, err := filepath.Abs(set.Options.SSD.Dir); err == nil && set.Options.SSD.Dir != "" && !set.Options.Off {
			if other, ok := dirs[dir]; ok {
				r.blameField(name, "SSD.Dir", fmt.Errorf("is %q, for %s and for %s: want one for each cache", set.Options.SSD.Dir, other, name))
			}
			dirs[dir] = name
		}
		if err := set.Options.Validate(); err != nil {
			r.blame(name, err)
		}
		caches[name] = set.Options
	}
	return caches
}

// userDir is the directory of the SSD tier of a cache without one of its own: below the user's
// cache directory, by the names of program and cache. It is "" where there is none, or the cache's
// name is not one of a directory.
func userDir(cache string) string {
	program, err := os.Executable()
	if err != nil || !filepath.IsLocal(cache) || filepath.Base(cache) != cache {
		return ""
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "firn", filepath.Base(program), cache)
}

// blame adds a fault of the field that an error of firn.Options is about, at the place
// where it was given, or else where the cache was.
func (r *reader) blame(cache string, err error) {
	var option *firn.OptionError
	if errors.As(err, &option) {
		r.blameField(cache, option.Field, option.Err)
	} else {
		r.faults.add(r.places[cache].errorf("%w", err))
	}
}

// blameField adds a fault of a field, by its path in Go.
func (r *reader) blameField(cache, path string, err error) {
	at := r.places[cache]
	if given, ok := r.places[cache+"."+path]; ok {
		r.faults.add(given.errorf("%w", err))
		return
	}
	at.field += "." + snakePath(path)
	r.faults.add(at.errorf("not set, and so it %w", err))
}

// snakePath turns SSD.Dir into ssd.dir.
func snakePath(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		parts[i] = snake(p)
	}
	return strings.Join(parts, ".")
}
