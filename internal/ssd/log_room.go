package ssd

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Slots that are not for records which come from RAM: where those have taken all
// others, reclaiming can still move the live records of a segment, and free it.
const (
	forReclaim = 0
	forDemote  = 1
)

// fits reports whether the open segment has room for a record of size bytes.
func (l *log) fits(size int) bool {
	s := l.open
	return s != nil && s.end+size+len(s.list)+format.MaxListed+format.TrailerLen <= l.SegmentBytes()
}

// hasRoom reports whether a record from RAM of n bytes could be appended.
func (l *log) hasRoom(n int) bool {
	return len(l.free) >= forDemote && (l.fits(l.Pad(n)) || l.canOpen(forDemote))
}

// canOpen reports whether a segment could be opened now, and leave so many slots.
func (l *log) canOpen(reserve int) bool {
	return !l.paused && len(l.free) > reserve && (len(l.bufs) > 0 || l.idleBuffer() >= 0)
}

// idleBuffer is the oldest segment in memory that has been written and that
// nobody reads; -1 if there is none.
func (l *log) idleBuffer() int {
	for i, s := range l.memory {
		if s.done && s.pins == 0 {
			return i
		}
	}
	return -1
}

// roomToMove reports whether a segment could be opened for moved records.
func (l *log) roomToMove() bool { return l.canOpen(forReclaim) }

// A log is stalled before it is full, for those who asked whether it is do not
// append at once. burstBytes is how many bytes it keeps for appends that several of
// them do meanwhile, where segments are not too small or too large for that, and for
// one of the largest that have come.
const burstBytes = 128 << 10

// spareBytes is how many bytes of the open segment are left when the log is stalled. The
// caller holds mu.
func (l *log) spareBytes() int { return max(l.minSpare(), l.largestRecord) }

// minSpare is spareBytes while no record has come that is larger. It does not change.
func (l *log) minSpare() int {
	size := l.SegmentBytes()
	return min(max(burstBytes, size/4), size-size/4)
}

// updateStalled notes whether the log is stalled: the open segment is nearly full, or for
// what is being moved, and no other can be opened. The caller holds mu.
func (l *log) updateStalled() {
	s := l.open
	behind := !l.canOpen(forDemote) && (s == nil || len(l.free) < forDemote || s.end+len(s.list)+format.TrailerLen > l.SegmentBytes()-l.spareBytes())
	if l.stalled.Load() == behind {
		return
	}
	l.stalled.Store(behind)
	l.stalledSince = time.Now()
	if !behind && l.wakeMaintenance != nil {
		l.wakeMaintenance() // the index may have waited for it to grow
	}
}

// waitRoom waits while the log is stalled, for patience at most. It reports
// whether there is room.
func (l *log) waitRoom(patience time.Duration) bool {
	return !l.stalled.Load() || l.waitFor(patience, func() bool {
		l.updateStalled()
		return !l.stalled.Load()
	})
}

// waitFor waits until ok, which it calls with mu held after every change, for
// patience at most. It returns the last result of ok.
func (l *log) waitFor(patience time.Duration, ok func() bool) bool {
	until := time.Now().Add(patience)
	defer time.AfterFunc(patience, l.broadcast).Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ok() {
		if !time.Now().Before(until) || l.hurried || l.closed {
			return false
		}
		l.changed.Wait()
	}
	return true
}

// broadcast wakes those who wait for a change.
func (l *log) broadcast() {
	l.mu.Lock()
	l.changed.Broadcast()
	l.mu.Unlock()
}

// freeSlots is how many segments can be opened before one has to be reclaimed.
func (l *log) freeSlots() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.free)
}
