package ssd

import (
	"cmp"
	"time"

	"github.com/firncache/firn/internal/aio"
)

// Ends of a read that is not made to wait for a slow disk.
var (
	ErrTimeout = aio.ErrTimeout // it took longer than Config.ReadTimeout
	ErrBusy    = aio.ErrBusy    // too many wait already, or the disk does nothing
)

const (
	// minCallers is how many may at least wait for reads at once, whatever
	// Config.Depth is.
	minCallers = 1024
	// callersPerSlot is how many may wait for each read that the disk is given at
	// once: for nine times as long as it takes for a read.
	callersPerSlot = 8
	// silence is how long a disk may have reads and give none of them back until no
	// other is begun, or Config.ReadTimeout, if that is shorter.
	silence = time.Second
)

// openReader opens the reader of the log. For its own reads the tier waits
// as long as they take; those of callers may be refused.
func (t *Tier) openReader() (*aio.Reader, error) {
	depth := cmp.Or(t.cfg.Depth, aio.DefaultDepth)
	cfg := aio.Config{
		File: t.logFile, Depth: depth, Mode: t.cfg.Reads,
		PoolBytes: min(8<<20, t.cfg.Memory/64), Memory: t.cfg.readMemory(), Patience: t.cfg.StallTimeout,
		Callers: depth + max(minCallers, callersPerSlot*depth),
		Timeout: t.cfg.ReadTimeout, Silence: silence,
	}
	if t.cfg.ReadTimeout > 0 {
		cfg.Silence = min(silence, t.cfg.ReadTimeout)
	}
	return aio.Open(cfg)
}

// isSlow reports whether a read ended with an error that says nothing about the
// record, nor that the disk fails: it would have taken too long.
func isSlow(err error) bool { return err == ErrTimeout || err == ErrBusy }

// releaseAll gives back the buffers of reads that are over.
func releaseAll(reqs []aio.Request) {
	for i := range reqs {
		if b := reqs[i].Buf; b != nil {
			b.Release()
		}
	}
}

// firstError is the error of the first read that has one.
func firstError(reqs []aio.Request) error {
	for i := range reqs {
		if err := reqs[i].Err; err != nil {
			return err
		}
	}
	return nil
}
