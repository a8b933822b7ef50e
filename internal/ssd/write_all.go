package ssd

// BeginWriteAll has the writer write all that was appended before the call, which does not wait
// for that; done reports whether it has.
func (t *Tier) BeginWriteAll() (done func() bool) {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	lsn := l.tail.Load()
	l.forceLSN = max(l.forceLSN, lsn)
	l.changed.Broadcast()
	return func() bool { return l.flushed.Load() >= lsn }
}

// WriteAll writes all that was appended, and gives up the buffers that it lies in, so
// that reads go to the disk. It is for tests: it waits for the disk as long as that takes.
func (t *Tier) WriteAll() {
	l := t.log
	l.mu.Lock()
	if l.open != nil {
		l.seal()
	}
	l.mu.Unlock()
	l.flushTo(l.LSN(l.nextSerial(), 0))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := l.idleBuffer(); i >= 0; i = l.idleBuffer() {
		l.bufs = append(l.bufs, l.memory[i].buf)
		l.memory = append(l.memory[:i], l.memory[i+1:]...)
	}
	l.updateStalled()
}
