package ssd

import "slices"

// A log may have more slots than Config.Bytes has room for: an earlier process had more
// room, or the index has grown, and with it the snapshot that Close writes. No new segment
// is put into the surplus slots, the last of the file. maintain reclaims the segments there,
// the oldest first: their records move to the end of the log, which drives out the oldest
// ones where it is full. Once they are empty the file is cut, by Close at the latest.

// setUsable makes all slots from n on surplus, and no others. The caller holds mu.
func (l *log) setUsable(n int) {
	old := int(l.usable.Swap(int64(n)))
	l.free = slices.DeleteFunc(l.free, func(slot int32) bool { return l.isSurplus(int(slot)) })
	for i := old; i < n; i++ {
		if l.slotWords[i].Serial.Load() == 0 && !l.slots[i].bad {
			l.free = append(l.free, int32(i))
		}
	}
}

// isSurplus reports whether the files have no room for a slot.
func (l *log) isSurplus(slot int) bool { return int64(slot) >= l.usable.Load() }

// usableBytes is the length of the log's file without surplus slots.
func (l *log) usableBytes() int64 { return l.usable.Load() << l.SegmentShift }

// inSurplus reports whether a surplus slot has a segment.
func (l *log) inSurplus() bool {
	for i := int(l.usable.Load()); i < len(l.slotWords); i++ {
		if l.slotWords[i].Serial.Load() != 0 {
			return true
		}
	}
	return false
}

// chooseSurplus is the oldest segment in a surplus slot whose list is on the device.
func (l *log) chooseSurplus() (v victim, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := int(l.usable.Load()); i < len(l.slots); i++ {
		serial := l.slotWords[i].Serial.Load()
		if serial != 0 && l.slots[i].sealed && (v.serial == 0 || serial < v.serial) {
			v = victim{slot: i, serial: serial, share: 1, how: moveAll}
		}
	}
	return v, v.serial != 0
}
