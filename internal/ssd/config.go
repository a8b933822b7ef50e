package ssd

import (
	"context"
	"log/slog"
	"time"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/admission"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Recovery says how much of an earlier process's data is kept.
type Recovery uint8

// The kinds of recovery.
const (
	RecoverSafe   Recovery = iota // records that are certain to be the latest: after Close, or a crash of the process alone
	RecoverAlways                 // all that can be read, also after a crash of the machine: it may be outdated
	RecoverNever                  // nothing
)

// Direct says whether the page cache is passed by.
type Direct uint8

// The choices.
const (
	DirectAuto Direct = iota // if the file system can: a block is tried
	DirectOn                 // or fail
	DirectOff
)

// Admission says which of the records that leave RAM are written to the SSD.
type Admission = admission.Kind

// The kinds of admission.
const (
	AdmitSeen = admission.Seen
	AdmitRead = admission.Read
	AdmitAll  = admission.All
)

// Config describes a tier to open.
type Config struct {
	FS           vfs.FS
	Bytes        int64 // of all files together, at least MinBytes
	SegmentBytes int64 // a power of two from 64 KiB to 64 MiB; 0: chosen, or the size that the files have
	Memory       int64 // the cache's RAM budget, of which this tier takes its share
	Admission    Admission
	WriteBudget  int64 // bytes a day; 0: no limit
	Compress     bool
	Direct       Direct
	Recovery     Recovery
	Depth        int           // reads in flight at most; 0: a default
	ReadTimeout  time.Duration // how long a Get, or a window of a GetMany, waits for the disk; 0: without end
	Now          func() int64  // milliseconds since 1970
	Machine      func() int64  // milliseconds since the machine was started, while it was suspended, too; nil: not known
	Grace        int64         // how long after its deadline a value can still be had by GetStale, in milliseconds
	Log          *slog.Logger  // nil: slog.Default
	Evictions    Evictions     // gets evicted records; nil: they are dropped

	// StartRead begins the span of reads of the disk that a caller with a context waits
	// for; nil: no spans.
	StartRead func(ctx context.Context, records int) (end func(error))

	Fingerprint uint64 // of what the records are; a log with another one is not kept

	BootID        func() string // for tests; nil: the system's
	StallTimeout  time.Duration // how long Close, and maintenance for room, wait for a disk that completes nothing; 0: ten seconds
	MaxWriteStall time.Duration // how long a write waits while the log is stalled; 0: a fifth of a second
	RetryInterval time.Duration // first pause before a tier that was switched off is tried again; 0: one second
	HashMask      uint64        // for tests: bits of the hash that are kept; 0 keeps all
	Reads         aio.Mode      // by which engine; the zero value takes the best that can be had
}

// Limits of a tier's files, in bytes.
const (
	MinBytes = 1 << 20
	MaxBytes = 1 << 46
)

// What a segment may have, in bytes.
const (
	MinSegment = format.MinSegment
	MaxSegment = format.MaxSegment
)

// ErrFormat says that the files were written by a later version of this package,
// which this one does not read.
var ErrFormat = format.ErrLater

// ErrForeign says that a file which the tier would overwrite is not the tier's.
var ErrForeign = files.ErrForeign

// MinMemory is the RAM budget from which a tier can be had.
const MinMemory = 1 << 20

// Evictions hears of records that leave the log when their segment is reclaimed: for want
// of room, or past their time. It does not hear of those that cannot be read, or whose
// segment's list cannot be, nor of what is invalidated, gives way to another key with its
// id, or goes with the whole log.
type Evictions interface {
	// Wanted reports whether anybody listens. If not, records go without being read.
	Wanted() bool
	// Evict calls take, which takes the record out of the index, under the lock that orders
	// the writes of the key; take reports false if it was gone already. It is called by one
	// goroutine at a time, which holds restarting. The slices are lent until it returns.
	Evict(key, value []byte, expired bool, take func() bool)
	// Evicted returns the function that notifies the user of the records evicted since the last call, nil for
	// none. It is called by a goroutine of its own, with no lock held: the user may write to
	// the cache, and a write may have to wait for maintenance, or close it.
	Evicted() (tell func())
}
