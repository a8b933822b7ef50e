package log

import "slices"

// A log may have more slots than Config.Bytes has room for: an earlier process had more
// room, or the index has grown, and with it the snapshot that Close writes. No new segment
// is put into the surplus slots, the last of the file. maintain reclaims the segments there,
// the oldest first: their records move to the end of the log, which drives out the oldest
// ones where it is full. Once they are empty the file is cut, by Close at the latest.

// setUsable makes all slots from n on surplus, and no others. The caller holds mu.
func (l *Log) setUsable(n int) {
	old := int(l.Usable.Swap(int64(n)))
	l.Free = slices.DeleteFunc(l.Free, func(slot int32) bool { return l.isSurplus(int(slot)) })
	for i := old; i < n; i++ {
		if l.SlotWords[i].Serial.Load() == 0 && !l.Slots[i].bad {
			l.Free = append(l.Free, int32(i))
		}
	}
}

// KeepUsable makes all slots from n on surplus. It gives some back only where that makes many
// more usable. Unless it must, it leaves the log a free slot: without one no record can be moved.
func (l *Log) KeepUsable(n int64, must bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	old := l.Usable.Load()
	below := slices.ContainsFunc(l.Free, func(slot int32) bool { return int64(slot) < n })
	if n < old && (below || must) || n-old > old/16 {
		l.setUsable(int(n))
		l.updateStalled()
	}
}

// isSurplus reports whether the files have no room for a slot.
func (l *Log) isSurplus(slot int) bool { return int64(slot) >= l.Usable.Load() }

// UsableBytes is the length of the log's file without surplus slots.
func (l *Log) UsableBytes() int64 { return l.Usable.Load() << l.SegmentShift }

// InSurplus reports whether a surplus slot has a segment.
func (l *Log) InSurplus() bool {
	for i := int(l.Usable.Load()); i < len(l.SlotWords); i++ {
		if l.SlotWords[i].Serial.Load() != 0 {
			return true
		}
	}
	return false
}
