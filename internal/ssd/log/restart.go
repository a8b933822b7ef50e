package log

// ResumeAt makes the log go on with a serial, beside the segments that its slots have.
// All of them have been written.
func (l *Log) ResumeAt(next uint64) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.resumeAtLocked(next)
}

func (l *Log) resumeAtLocked(next uint64) {
	l.Free = l.Free[:0]
	for i := range l.Slots {
		serial := l.SlotWords[i].Serial.Load()
		l.Slots[i].sealed = serial != 0
		if serial == 0 && !l.isSurplus(i) {
			l.Free = append(l.Free, int32(i))
		}
		next = max(next, serial+1)
	}
	l.next = next
	l.head.Next.Store(next)
	l.Tail.Store(l.LSN(next, 0))
	l.Flushed.Store(l.LSN(next, 0))
	l.updateStalled()
}

// Pause ends the segments that are not written to their end, waits for the writer, and
// lets nothing be appended until reset: an appended record is named in the index, which
// is about to be emptied.
func (l *Log) Pause() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if s := l.Open; s != nil {
		l.sealed = append(l.sealed, s)
		l.Open = nil
	}
	for _, s := range l.sealed {
		s.failed = true // so that no more of it is written
	}
	l.paused = true
	for l.writing {
		l.changed.Wait()
	}
	for _, s := range l.sealed {
		s.Done = true
	}
	l.sealed = nil
}

// Reset begins an empty log. All slots are free.
func (l *Log) Reset(logID, next uint64) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.logID = logID
	for i := range l.Slots {
		s := &l.Slots[i]
		l.SlotWords[i].Serial.Store(0)
		s.Alive.Store(0)
		s.bad = false
	}
	l.paused = false
	l.resumeAtLocked(max(l.next, next))
	l.changed.Broadcast()
}
