package vfstest

import (
	"fmt"
	"strings"

	"github.com/firncache/firn/internal/vfs"
)

// Kind is a kind of operation, or with | several.
type Kind uint32

// The operations of FS, File, MemoryKeeper and Memory that Faulty sees. Size, Align,
// Fd, and the closing of locks and memory pass.
const (
	OpOpen     Kind = 1 << iota // Open without OpenOptions.Create
	OpCreate                    // Open with OpenOptions.Create, also of a file that is there
	OpRead                      // ReadAt
	OpWrite                     // WriteAt
	OpSync                      // File.Sync
	OpTruncate                  // Truncate
	OpAllocate                  // Allocate
	OpClose                     // File.Close
	OpRename                    // Rename
	OpRemove                    // Remove
	OpList                      // List
	OpSyncDir                   // SyncDir
	OpLock                      // Lock
	OpFree                      // Free

	OpNewMemory    // MemoryKeeper.NewMemory
	OpOpenMemory   // MemoryKeeper.OpenMemory
	OpRemoveMemory // Memory.Remove
)

const (
	// OpAny is every kind.
	OpAny = OpRemoveMemory<<1 - 1
	// OpChange is every kind that changes the state after a crash.
	OpChange = OpCreate | OpWrite | OpSync | OpTruncate | OpAllocate | OpRename | OpRemove | OpSyncDir | OpLock |
		OpNewMemory | OpRemoveMemory
)

var kindNames = [...]string{"open", "create", "read", "write", "sync", "truncate", "allocate", "close",
	"rename", "remove", "list", "syncdir", "lock", "free", "new memory", "open memory", "remove memory"}

func (k Kind) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// Op is one operation.
type Op struct {
	N    int    // its number among all operations of the Faulty, from 1
	Kind Kind   // one
	Name string // the file, as it was opened; "" for List, SyncDir, Free and memory
	To   string // the new name of Rename
	Off  int64  // of reads and writes, in bytes
	Len  int64  // of reads and writes, in bytes; the new size for Truncate and Allocate; the size of new memory

	file vfs.File // of reads and writes
	data []byte   // of writes, until the operation ends
}

func (op Op) String() string {
	s := op.Kind.String()
	if op.Name != "" {
		s += " " + op.Name
	}
	switch op.Kind {
	case OpRename:
		s += " to " + op.To
	case OpRead, OpWrite:
		s += fmt.Sprintf(" %d+%d", op.Off, op.Len)
	case OpTruncate, OpAllocate, OpNewMemory:
		s += fmt.Sprintf(" %d", op.Len)
	}
	return s
}
