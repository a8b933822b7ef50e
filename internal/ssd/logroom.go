package ssd

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Slots that are not for records which come from RAM: where those have taken all
// others, reclaiming can still move what is alive in a segment, and free it.
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

// roomToMove reports whether a segment could be opened for what is moved.
func (l *log) roomToMove() bool { return l.canOpen(forReclaim) }

// A log is behind before it is full, for those who asked whether it is do not
// append at once. burst is how many bytes it keeps for what several of them do
// meanwhile, where segments are not too small or too large for that, and for one of
// the largest that have come.
const burst = 128 << 10

// spare is how many bytes of the open segment are left when the log is behind. The
// caller holds mu.
func (l *log) spare() int { return max(l.usualSpare(), l.largest) }

// usualSpare is spare while no record has come that is larger. It does not change.
func (l *log) usualSpare() int {
	size := l.SegmentBytes()
	return min(max(burst, size/4), size-size/4)
}

// noteRoom tells whether the log is behind: the open segment is nearly full, or for
// what is being moved, and no other can be opened. The caller holds mu.
func (l *log) noteRoom() {
	s := l.open
	behind := !l.canOpen(forDemote) && (s == nil || len(l.free) < forDemote || s.end+len(s.list)+format.TrailerLen > l.SegmentBytes()-l.spare())
	if l.behind.Load() == behind {
		return
	}
	l.behind.Store(behind)
	if !behind && l.wake != nil {
		l.wake() // the index may have waited for it to grow
	}
}

// waitRoom waits while the log is behind, for patience at most. It reports
// whether there is room.
func (l *log) waitRoom(patience time.Duration) bool {
	return !l.behind.Load() || l.waitFor(patience, func() bool {
		l.noteRoom()
		return !l.behind.Load()
	})
}

// waitFor waits until ok, which it calls with mu held after every change, for
// patience at most. It reports what ok does then.
func (l *log) waitFor(patience time.Duration, ok func() bool) bool {
	until := time.Now().Add(patience)
	defer time.AfterFunc(patience, l.announce).Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ok() {
		if !time.Now().Before(until) || l.closed {
			return false
		}
		l.changed.Wait()
	}
	return true
}

// announce wakes those who wait for a change.
func (l *log) announce() {
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
