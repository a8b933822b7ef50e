package log

import (
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/ssd/format"
)

// slotsAtOnce is how many slots are looked at in one hold of the log's lock.
const slotsAtOnce = 1024

// AppendMap appends a byte for each slot to buf, but for those that are surplus and free: see
// inside.Inside.
func (l *Log) AppendMap(buf []byte) []byte {
	for from := 0; from < len(l.Slots); from += slotsAtOnce {
		l.Mu.Lock()
		for i := from; i < min(from+slotsAtOnce, len(l.Slots)); i++ {
			if l.SlotWords[i].Serial.Load() != 0 || !l.isSurplus(i) {
				buf = append(buf, segmentByte(&l.Slots[i], &l.SlotWords[i]))
			}
		}
		l.Mu.Unlock()
	}
	return buf
}

// segmentByte is a slot's byte in the map. The caller holds Log.Mu.
func segmentByte(s *Slot, w *format.SlotWords) byte {
	switch {
	case s.bad:
		return inside.SegmentFailing
	case w.Serial.Load() == 0:
		return inside.SegmentFree
	case !s.sealed:
		return inside.SegmentOpen
	}
	live, all := max(s.Alive.Load(), 0), int64(max(w.Written.Load(), 1))
	return byte(min((100*live+all-1)/all, 100)) // 0 only if nothing lives
}
