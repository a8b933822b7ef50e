package ssd

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
