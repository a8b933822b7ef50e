package log

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Slots that are not for records which come from RAM: where those have taken all
// others, reclaiming can still move the live records of a segment, and free it.
const (
	ForReclaim = 0
	ForDemote  = 1
)

// fits reports whether the open segment has room for a record of size bytes.
func (l *Log) fits(size int) bool {
	s := l.Open
	return s != nil && s.End+size+len(s.list)+format.MaxListed+format.TrailerLen <= l.SegmentBytes()
}

// HasRoom reports whether a record from RAM of n bytes could be appended.
func (l *Log) HasRoom(n int) bool {
	return len(l.Free) >= ForDemote && (l.fits(l.Pad(n)) || l.canOpen(ForDemote))
}

// canOpen reports whether a segment could be opened now, and leave so many slots.
func (l *Log) canOpen(reserve int) bool {
	return !l.paused && len(l.Free) > reserve && (len(l.bufs) > 0 || l.idleBuffer() >= 0)
}

// idleBuffer is the oldest segment in memory that has been written and that
// no reader has pinned; -1 if there is none.
func (l *Log) idleBuffer() int {
	for i, s := range l.Memory {
		if s.Done && s.Pins == 0 {
			return i
		}
	}
	return -1
}

// RoomToMove reports whether a segment could be opened for moved records.
func (l *Log) RoomToMove() bool { return l.canOpen(ForReclaim) }

// A log is stalled before it is full, for callers that have seen room do not
// append at once. burstBytes is how many bytes it keeps for appends that several of
// them do meanwhile, where segments are not too small or too large for that, and for
// one of the largest that have come.
const burstBytes = 128 << 10

// spareBytes is how many bytes of the open segment are left when the log is stalled. The
// caller holds mu.
func (l *Log) spareBytes() int { return max(l.MinSpare(), l.largestRecord) }

// MinSpare is spareBytes while no record has come that is larger. It does not change.
func (l *Log) MinSpare() int {
	size := l.SegmentBytes()
	return min(max(burstBytes, size/4), size-size/4)
}

// updateStalled notes whether the log is stalled: the open segment is nearly full, or for
// what is being moved, and no other can be opened. The caller holds mu.
func (l *Log) updateStalled() {
	s := l.Open
	behind := !l.canOpen(ForDemote) && (s == nil || len(l.Free) < ForDemote || s.End+len(s.list)+format.TrailerLen > l.SegmentBytes()-l.spareBytes())
	if l.Stalled.Load() == behind {
		return
	}
	l.Stalled.Store(behind)
	l.stalledSince = time.Now()
	if !behind && l.WakeMaintenance != nil {
		l.WakeMaintenance() // the index may have waited for it to grow
	}
}

// WaitRoom waits while the log is stalled, for patience at most. It reports
// whether there is room.
func (l *Log) WaitRoom(patience time.Duration) bool {
	return !l.Stalled.Load() || l.WaitFor(patience, func() bool {
		l.updateStalled()
		return !l.Stalled.Load()
	})
}

// WaitFor waits until ok, which it calls with mu held after every change, for
// patience at most. It returns the last result of ok.
func (l *Log) WaitFor(patience time.Duration, ok func() bool) bool {
	until := time.Now().Add(patience)
	defer time.AfterFunc(patience, l.Broadcast).Stop()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for !ok() {
		if !time.Now().Before(until) || l.hurried || l.closed {
			return false
		}
		l.changed.Wait()
	}
	return true
}

// Hurry ends every wait for room, and lets none begin.
func (l *Log) Hurry() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.hurried = true
	l.changed.Broadcast()
}

// Broadcast wakes those who wait for a change.
func (l *Log) Broadcast() {
	l.Mu.Lock()
	l.changed.Broadcast()
	l.Mu.Unlock()
}

// WhenStalled reports whether the log is stalled, since when, and how many bytes wait for the
// writer.
func (l *Log) WhenStalled() (since time.Time, waits uint64, ok bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if !l.Stalled.Load() {
		return since, 0, false
	}
	return l.stalledSince, l.Tail.Load() - l.Flushed.Load(), true
}

// FreeSlots is how many segments can be opened before one has to be reclaimed.
func (l *Log) FreeSlots() int {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return len(l.Free)
}
