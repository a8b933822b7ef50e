package log

import "github.com/firncache/firn/internal/ssd/format"

// Pin finds a segment in memory and keeps its bytes there until unpin. What lies
// before its end at the time does not change.
func (l *Log) Pin(slot int, serial uint64) *Segment {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, s := range l.Memory {
		if s.Slot == slot && s.Serial == serial {
			s.Pins++
			return s
		}
	}
	return nil
}

func (l *Log) Unpin(s *Segment) {
	l.Mu.Lock()
	if s.Pins--; s.Pins == 0 && s.Done {
		l.updateStalled()
		l.changed.Broadcast()
	}
	l.Mu.Unlock()
}

// InMemory reports whether a segment may not be on the disk yet.
func (l *Log) InMemory(slot int, serial uint64) bool {
	s := l.Pin(slot, serial)
	if s != nil {
		l.Unpin(s)
	}
	return s != nil
}

// Listed is the records of a segment that is pinned, also of one that is being filled.
func (l *Log) Listed(s *Segment) []format.Listed {
	l.Mu.Lock()
	list := append([]byte(nil), s.list...)
	t := format.Trailer{Count: s.count, DataEnd: s.End, ListChecksum: format.Checksum(0, list)}
	l.Mu.Unlock()
	recs, _ := format.ParseList(nil, list, t, l.UnitShift)
	return recs
}

// ListedAtEnd is the records of a segment that is pinned, and sealed.
func (l *Log) ListedAtEnd(s *Segment) ([]format.Listed, error) {
	t, ok := format.ParseTrailer(s.Buf[len(s.Buf)-format.TrailerLen:], l.Number(), len(s.Buf))
	if !ok {
		return nil, format.ErrCorrupt
	}
	return format.ParseList(nil, s.Buf[s.listAt:len(s.Buf)-format.TrailerLen], t, l.UnitShift)
}
