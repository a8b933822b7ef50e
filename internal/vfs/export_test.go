package vfs

import (
	"fmt"
	"os"
)

// NewOSFile is what Open returns, of a file that a test has opened in its own way.
func NewOSFile(f *os.File, align int) File { return &osFile{file: f, align: align} }

// InPieces is how reads and writes stay below the limit of one call.
var InPieces = inPieces

// WriteZeros is Allocate where the system cannot reserve.
func WriteZeros(f File, from, to int64) error { return writeZeros(f.(*osFile), from, to) }

// CheckSpace recounts the blocks of every file, and compares with what is charged.
func (m *Mem) CheckSpace() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum int64
	for _, n := range m.names {
		before := n.charged
		if change := n.recount(); change != 0 {
			return fmt.Errorf("file %d is charged %d blocks, has %d", n.id, before, n.charged)
		}
		sum += n.charged
	}
	if sum != m.used {
		return fmt.Errorf("%d blocks are charged, files have %d", m.used, sum)
	}
	return nil
}

// Address is where bytes begin.
func Address(b []byte) uintptr { return address(b) }
