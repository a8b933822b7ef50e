package bufpool

import "fmt"

// Retain adds a reference, for another owner to release, and returns b. The
// caller must hold one itself. Beyond 65,533 references it panics.
func (b *Buffer) Retain() *Buffer {
	for {
		s := b.slot.state.get()
		if s != b.lent && !b.shared(s) {
			b.misused("Retain")
		}
		if s&gone == maxRefs {
			panic(fmt.Sprintf("bufpool: Retain: a buffer has %d references already", s.refs()))
		}
		if b.slot.state.replace(s, s+oneRef) {
			return b
		}
	}
}

// Release ends one reference. With the last the memory becomes idle, and the
// Buffer and its slices must not be used any more. Release of a nil Buffer, as
// ReadAll returns beside an error, does nothing.
func (b *Buffer) Release() {
	if b == nil {
		return
	}
	// One reference: it is the caller's, and nobody else may touch the buffer.
	sl := b.slot
	if l := sl.level; sl.state.get() == b.lent && !l.careful.Load() {
		sl.state.set(b.lent - oneRef)
		l.stash.put(b)
		return
	}
	b.releaseSlow()
}

// releaseSlow serves shared buffers and checked pools, where even two Releases
// at the same moment must find each other.
func (b *Buffer) releaseSlow() {
	l := b.slot.level
	for {
		s := b.slot.state.get()
		switch {
		case s != b.lent && !b.shared(s):
			b.misused("Release")
		case s == b.lent && !l.pool.checked:
			l.takeBack(b)
			return
		case s == b.lent:
			if b.slot.state.replace(s, s|gone) { // nobody's, until it is idle
				b.poison()
				l.takeBack(b)
				return
			}
		case b.slot.state.replace(s, s-oneRef):
			return
		}
	}
}
