package health

import (
	"sync"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/loglines"
)

// Health counts the faults of the disk. A segment that cannot be written is
// abandoned; a tier whose disk fails again and again goes offline: RAM goes on
// alone, and the disk is tried again now and then, with an empty log.
type Health struct {
	loglines.Logger
	BadReads BadReads

	mu        sync.Mutex    // a leaf but for the logger's, and for what SwitchOff and SwitchOn call
	cause     error         // why the tier is offline; nil: it is not
	badWrites int           // segments abandoned since one was written to its end
	retrying  chan struct{} // closed when Retry is to end; nil: there is none
	stopped   bool
	lastLog   time.Time
	unlogged  int
	incidents incidents
}

// Cause is why the tier is offline; nil: it is not.
func (h *Health) Cause() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause
}

// IsOffline reports whether the tier is.
func (h *Health) IsOffline() bool { return h.Cause() != nil }

// State is the state of the tier as far as the faults of the disk go, the reason in plain words,
// and since when; zero: since Open.
func (h *Health) State() (s inside.State, why string, since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.cause == nil:
		return inside.Online, h.incidents.online(), h.incidents.since
	case h.incidents.trying:
		return inside.Recovering, h.incidents.offline(h.cause), h.incidents.since
	}
	return inside.Offline, h.incidents.offline(h.cause), h.incidents.since
}

// logPause is the least time between two lines about faults.
const logPause = 10 * time.Second

// Fault writes a line about a fault, but no flood of them.
func (h *Health) Fault(what string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.noteFault(what, args)
	if time.Since(h.lastLog) < logPause {
		h.unlogged++
		return
	}
	h.lastLog = time.Now()
	h.Warn("firn: SSD tier: "+what, append(args, "not_logged", h.unlogged)...)
	h.unlogged = 0
}

// SegmentFailed counts a segment that was abandoned, and returns how many were in a row.
func (h *Health) SegmentFailed() (row int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.badWrites++
	return h.badWrites
}

// SegmentWritten ends a row of segments that were abandoned.
func (h *Health) SegmentWritten() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.badWrites = 0
}

// SwitchOff takes the tier offline by calling off, which gets the channel that Retry ends by,
// and reports false if the tier is being closed. It reports whether the tier is offline.
func (h *Health) SwitchOff(cause error, off func(stop <-chan struct{}) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause != nil || h.stopped {
		return h.cause != nil
	}
	stop := make(chan struct{})
	if !off(stop) {
		return false
	}
	h.begin(cause, stop)
	return true
}

// StartOff is SwitchOff for a tier that begins offline: no other goroutine has it yet.
func (h *Health) StartOff(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin(cause, make(chan struct{}))
}

func (h *Health) begin(cause error, stop chan struct{}) {
	h.cause, h.retrying = cause, stop
	h.incidents.noteOffline()
	h.Error("firn: SSD tier is off; RAM goes on alone", "error", cause)
}

// Retrying is the channel that Retry ends by; nil if the tier is not offline.
func (h *Health) Retrying() <-chan struct{} { return h.retrying }

// switchOn brings the tier back by calling on. It reports false if Stop was called before.
func (h *Health) switchOn(on func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	h.incidents.noteOnline(h.cause)
	h.cause, h.badWrites = nil, 0
	h.BadReads.OK()
	on()
	return true
}

// Stop ends the retries, for good.
func (h *Health) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	if h.retrying != nil {
		close(h.retrying)
		h.retrying = nil
	}
}
