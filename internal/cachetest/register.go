package cachetest

import (
	"fmt"
	"sync/atomic"
)

// Register watches one key that one goroutine writes and many read. Deletes are
// writes too.
type Register struct {
	Key           []byte
	issued, acked atomic.Uint64
}

// Write numbers a write, runs it, and notes that it was acknowledged. Only one
// goroutine may call it.
func (r *Register) Write(write func(seq uint64)) {
	seq := r.issued.Add(1)
	write(seq)
	r.acked.Store(seq)
}

// Next numbers a write which may fail: Ack says that it did not. Only one
// goroutine may call both.
func (r *Register) Next() uint64 { return r.issued.Add(1) }

// Ack notes that a write was acknowledged.
func (r *Register) Ack(seq uint64) { r.acked.Store(seq) }

// Acked is the last write that was acknowledged; a read notes it before it begins.
func (r *Register) Acked() uint64 { return r.acked.Load() }

// CheckRead reports whether a read that began after write acked was acknowledged
// may return value.
func (r *Register) CheckRead(acked uint64, value []byte) error {
	seq, err := Sequence(r.Key, value)
	if err != nil {
		return fmt.Errorf("key %x: %w", r.Key, err)
	}
	if seq < acked {
		return fmt.Errorf("key %x: %w: write %d, after write %d was acknowledged", r.Key, ErrStale, seq, acked)
	}
	if issued := r.issued.Load(); seq > issued {
		return fmt.Errorf("key %x: %w: write %d of %d", r.Key, ErrUnknown, seq, issued)
	}
	return nil
}
