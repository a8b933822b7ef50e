package aio

import (
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/histogram"
)

// counters count reads that came back.
type counters struct {
	reads, bytes, errors atomic.Uint64
	timeouts, refused    atomic.Uint64
	latency              histogram.Recorder
}

func (s *counters) read(o *op, err error, now int64) {
	s.reads.Add(1)
	if err == nil {
		s.bytes.Add(uint64(o.n))
	} else {
		s.errors.Add(1)
	}
	s.latency.Add(time.Duration(now - o.start))
}

// refuse counts and fails the reads of a call that is not begun.
func (s *counters) refuse(reqs []Request, err error) {
	switch err {
	case ErrBusy:
		s.refused.Add(uint64(len(reqs)))
	case ErrTimeout:
		s.timeouts.Add(uint64(len(reqs)))
	}
	fail(reqs, err)
}

// Stats are the state and the counters of a Reader.
type Stats struct {
	Mode     string // "io_uring", "libaio" or "pread"
	Depth    int    // most reads in flight
	InFlight int    // reads that the system has, abandoned ones among them
	Queued   int    // reads that wait for a slot
	// Abandoned is the reads in flight whose calls' contexts have ended.
	Abandoned int
	Reads     uint64 // reads that came back, with an error or without
	Bytes     uint64 // read without an error
	Errors    uint64 // reads that came back with an error
	Timeouts  uint64 // reads of Try that were not waited for any longer
	Refused   uint64 // reads of Try that were not begun, the disk being busy
	// Latency of reads that came back, from the call on: their time in the
	// queue is in it.
	Latency histogram.Histogram
}

// Stats returns the figures of this moment.
func (r *Reader) Stats() Stats {
	r.mu.Lock()
	s := Stats{Mode: r.engine.name(), Depth: r.depth, InFlight: r.inFlight, Queued: r.queue.len, Abandoned: r.abandoned}
	r.mu.Unlock()
	s.Reads = r.counters.reads.Load()
	s.Bytes = r.counters.bytes.Load()
	s.Errors = r.counters.errors.Load()
	s.Timeouts = r.counters.timeouts.Load()
	s.Refused = r.counters.refused.Load()
	s.Latency = r.counters.latency.Snapshot()
	return s
}
