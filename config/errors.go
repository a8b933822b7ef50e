package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of a configuration.
type Error struct {
	File         string // as Source.Path has it, or data; empty for the environment
	Line, Column int    // from 1; 0 for the environment, and for a fault of the whole file
	Field        string // such as caches.sessions.ttl, or the variable's name; empty for faults of syntax
	Err          error
}

func (e *Error) Error() string {
	where := e.File
	switch {
	case where == "":
		where = "environment"
	case e.Line > 0:
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Err.Error()
}

// Unwrap is the fault, without the place.
func (e *Error) Unwrap() error { return e.Err }

// place is where a value was given: what an Error says apart from the fault.
type place struct {
	file         string
	line, column int
	field        string
}

func (p place) errorf(format string, args ...any) *Error {
	return &Error{p.file, p.line, p.column, p.field, fmt.Errorf(format, args...)}
}

// faults gathers faults, each once.
type faults struct {
	list []*Error
}

func (f *faults) add(err *Error) {
	same := func(other *Error) bool { return other.Error() == err.Error() }
	if !slices.ContainsFunc(f.list, same) {
		f.list = append(f.list, err)
	}
}

// err is all faults, in the order of the file's lines, the environment last.
func (f *faults) err() error {
	slices.SortStableFunc(f.list, func(a, b *Error) int {
		if (a.File == "") != (b.File == "") {
			return strings.Compare(b.File, a.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	errs := make([]error, len(f.list))
	for i, e := range f.list {
		errs[i] = e
	}
	return errors.Join(errs...)
}
