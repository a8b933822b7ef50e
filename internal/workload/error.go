package workload

import (
	"fmt"
	"strings"
)

// TraceError is a fault of a trace, and its place.
type TraceError struct {
	Path       string // the file
	Format     string // the format it was read as; empty where none was found
	Line       int64  // the line in a text format, from 1; 0 in a binary one
	Offset     int64  // byte offset of the broken record or line
	Compressed bool   // Offset counts decompressed bytes
	Err        error  // the fault
}

// Error returns one line: path, place, format and cause.
func (e *TraceError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	b.WriteString(": ")
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", e.Line)
	}
	fmt.Fprintf(&b, "offset %d", e.Offset)
	if e.Compressed {
		b.WriteString(" after decompression")
	}
	if e.Format != "" {
		fmt.Fprintf(&b, " (%s)", e.Format)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *TraceError) Unwrap() error { return e.Err }
