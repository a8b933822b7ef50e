package ssd

// victim is a segment to be reclaimed.
type victim struct {
	slot   int
	serial uint64
	share  float64 // the part of its records' weight that is alive
	how    disposal
}

// expired reports whether all of its records are known to be past their grace.
func (v *victim) expired() bool { return v.how == dropAll && v.share > 0 }

// disposal tells what to do with the live records of a segment.
type disposal uint8

const (
	moveAll  disposal = iota // to the end of the log
	moveRead                 // likewise, if they were read since they were written; the others go
	dropAll                  // they have expired, or there are none
)

// maxLiveToClean is how much of a segment may be alive for it to be cleaned. At this
// share, four bytes are written for each that is gained; the log as a whole holds
// more than that by then, for updates of uniformly chosen keys seven eighths.
const maxLiveToClean = 0.75

// chooseVictim is the segment to reclaim next, of those whose list is on the device: one
// that is dead or has expired, which costs nothing; or the one with the least that is
// alive, while so much of it is dead that moving the rest pays; or else the oldest, and
// records have to go. With evict they have to go before any is moved.
func (l *log) chooseVictim(evict bool) (v victim, ok bool) {
	now := uint64(max(l.now(), 0))
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest, cheapest victim
	for i := range l.slots {
		w := &l.slotWords[i]
		v := victim{slot: i, serial: w.Serial.Load()}
		if v.serial == 0 || !l.slots[i].sealed {
			continue
		}
		if v.share = float64(l.slots[i].alive.Load()) / float64(max(w.Written.Load(), 1)); v.share == 0 || w.Until.Load() < now {
			v.how = dropAll
			return v, true
		}
		if l.isSurplus(i) { // which would free none
			continue
		}
		if oldest.serial == 0 || v.serial < oldest.serial {
			oldest = v
		}
		if cheapest.serial == 0 || v.share < cheapest.share {
			cheapest = v
		}
	}
	if cheapest.serial != 0 && cheapest.share <= maxLiveToClean && !evict {
		return cheapest, true
	}
	oldest.how = moveRead
	return oldest, oldest.serial != 0
}
