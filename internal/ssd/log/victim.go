package log

// Victim is a segment to be reclaimed.
type Victim struct {
	Slot    int
	Serial  uint64
	Share   float64 // the part of its records' weight that is alive
	How     disposal
	Expired bool // all of its records are known to be past their grace
}

// disposal is what happens to the live records of a segment.
type disposal uint8

const (
	MoveAll  disposal = iota // to the end of the log
	MoveRead                 // likewise, if they were read since they were written; the others go
	DropAll                  // they have expired, or there are none
)

// maxLiveToClean is how much of a segment may be alive for it to be cleaned. At this
// share, four bytes are written for each that is gained; the log as a whole holds
// more than that by then, for updates of uniformly chosen keys seven eighths.
const maxLiveToClean = 0.75

// ChooseVictim is the segment to reclaim next, of those whose list is on the device: one
// that is dead or has expired, which costs nothing; or the one with the least that is
// alive, while so much of it is dead that moving the rest pays; or else the oldest, and
// records have to go. With evict they have to go before any is moved.
func (l *Log) ChooseVictim(evict bool) (v Victim, ok bool) {
	now := uint64(max(l.now(), 0))
	l.Mu.Lock()
	defer l.Mu.Unlock()
	var oldest, cheapest Victim
	for i := range l.Slots {
		w := &l.SlotWords[i]
		v := Victim{Slot: i, Serial: w.Serial.Load()}
		if v.Serial == 0 || !l.Slots[i].sealed {
			continue
		}
		if v.Share = float64(l.Slots[i].Alive.Load()) / float64(max(w.Written.Load(), 1)); v.Share == 0 || w.Until.Load() < now {
			v.How, v.Expired = DropAll, v.Share > 0
			return v, true
		}
		if l.isSurplus(i) { // which would free none
			continue
		}
		if oldest.Serial == 0 || v.Serial < oldest.Serial {
			oldest = v
		}
		if cheapest.Serial == 0 || v.Share < cheapest.Share {
			cheapest = v
		}
	}
	if cheapest.Serial != 0 && cheapest.Share <= maxLiveToClean && !evict {
		return cheapest, true
	}
	oldest.How = MoveRead
	return oldest, oldest.Serial != 0
}

// ChooseSurplus is the oldest segment in a surplus slot whose list is on the device.
func (l *Log) ChooseSurplus() (v Victim, ok bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for i := int(l.Usable.Load()); i < len(l.Slots); i++ {
		serial := l.SlotWords[i].Serial.Load()
		if serial != 0 && l.Slots[i].sealed && (v.Serial == 0 || serial < v.Serial) {
			v = Victim{Slot: i, Serial: serial, Share: 1, How: MoveAll}
		}
	}
	return v, v.Serial != 0
}

// ChooseOf is the oldest segment of whose live records those that bytes counts, by slot, are at
// least half, to be cleaned of them.
func (l *Log) ChooseOf(bytes func(slot int) int64) (v Victim, ok bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for i := range l.Slots {
		w, alive := &l.SlotWords[i], l.Slots[i].Alive.Load()
		serial := w.Serial.Load()
		if serial == 0 || !l.Slots[i].sealed || l.isSurplus(i) || v.Serial != 0 && serial > v.Serial {
			continue
		}
		if n := bytes(i); n > 0 && 2*n >= alive {
			v = Victim{Slot: i, Serial: serial, Share: float64(alive) / float64(max(w.Written.Load(), 1)), How: MoveAll}
		}
	}
	return v, v.Serial != 0
}

// SealedIn is the serial of the segment in a slot, if its list is on the device, and otherwise 0.
func (l *Log) SealedIn(slot int) uint64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if !l.Slots[slot].sealed {
		return 0
	}
	return l.SlotWords[slot].Serial.Load()
}
