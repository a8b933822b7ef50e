package log

// FlushTo makes the writer write everything before lsn, and waits until it has,
// or has failed to, or the log is closed.
func (l *Log) FlushTo(lsn uint64) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.forceLSN = max(l.forceLSN, lsn)
	l.changed.Broadcast()
	for l.Flushed.Load() < lsn && !l.closed {
		l.changed.Wait()
	}
}

// FlushAll seals the open segment and waits until all are written. It reports false if
// the log was closed before.
func (l *Log) FlushAll() bool {
	l.Mu.Lock()
	if l.Open != nil {
		l.Seal()
	}
	l.Mu.Unlock()
	end := l.LSN(l.NextSerial(), 0)
	l.FlushTo(end)
	return l.Flushed.Load() >= end
}

// BeginFlush makes the writer write all that was appended before the call, and does not wait
// for that; done reports whether it has.
func (l *Log) BeginFlush() (done func() bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	lsn := l.Tail.Load()
	l.forceLSN = max(l.forceLSN, lsn)
	l.changed.Broadcast()
	return func() bool { return l.Flushed.Load() >= lsn }
}

// DropBuffers frees the buffers of segments that have been written.
func (l *Log) DropBuffers() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for i := l.idleBuffer(); i >= 0; i = l.idleBuffer() {
		l.bufs = append(l.bufs, l.Memory[i].Buf)
		l.Memory = append(l.Memory[:i], l.Memory[i+1:]...)
	}
	l.updateStalled()
}

// FlushOpen makes the writer write the records of the open segment.
func (l *Log) FlushOpen() {
	l.Mu.Lock()
	if s := l.Open; s != nil && s.End > s.written {
		l.forceLSN = max(l.forceLSN, l.LSN(s.Serial, s.End))
	}
	l.changed.Broadcast()
	l.Mu.Unlock()
}
