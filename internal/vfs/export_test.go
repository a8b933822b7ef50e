package vfs

import "os"

// NewOSFile is what Open returns, of a file that a test has opened in its own way.
func NewOSFile(f *os.File, align int) File { return &osFile{file: f, align: align} }

// InPieces is how reads and writes stay below the limit of one call.
var InPieces = inPieces

// WriteZeros is Allocate where the system cannot reserve.
func WriteZeros(f File, from, to int64) error { return writeZeros(f.(*osFile), from, to) }

// Address is where bytes begin.
func Address(b []byte) uintptr { return address(b) }
