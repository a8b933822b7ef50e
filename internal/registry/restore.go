package registry

// Words are a part of a table's saved form. The first part is the head: epoch, clock, base, and
// how many places there are. Each other part is a place at which something happened: its
// number, and what it has.
type Words [5]uint64

// Save is the saved form of a table. It has what happened before it was called.
func (t *Table) Save() (saved []Words) {
	saved = append(saved, Words{})
	for i := range t.used() {
		if w := t.places[i].words(i); w[1]|w[2]|w[3] != 0 {
			saved = append(saved, w)
		}
	}
	// The clock is not before that of any place.
	saved[0] = Words{t.epoch, t.head.clock.Load(), t.head.base.Load(), uint64(len(t.places))}
	return saved
}

// words are the saved form of the i-th place. The moment is read before the clock that it is of: where
// the two are of two calls it is the earlier one.
func (p *place) words(i int) Words {
	moment := uint64(p.moment.Load())
	return Words{uint64(i), p.invalidated.Load(), p.cleared.Load(), p.expired.Load(), moment}
}

// Restore gives an empty table what another one had that was saved. It reports false if that
// was none: then the table is as after Lose.
func (t *Table) Restore(saved []Words) bool {
	if len(saved) == 0 || saved[0][0] == 0 || saved[0][3] < MinPlaces || saved[0][3] > MaxPlaces || saved[0][3]&(saved[0][3]-1) != 0 {
		t.Lose()
		return false
	}
	h := saved[0]
	t.inherit(h[0], h[1], h[2])
	for _, w := range saved[1:] {
		if w[0] >= h[3] || w[1] > h[1] || w[2] > h[1] || w[3] > h[1] {
			t.Lose()
			return false
		}
		t.merge(w, uint32(h[3]))
	}
	return true
}

// Copy gives an empty table what an older one has, which nothing changes.
func (t *Table) Copy(old *Table) {
	t.inherit(old.epoch, old.head.clock.Load(), old.head.base.Load())
	for i := range old.used() {
		if w := old.places[i].words(i); w[1]|w[2]|w[3] != 0 {
			t.merge(w, uint32(len(old.places)))
		}
	}
}

// used are the places, none if nothing ever happened: their memory is not touched then.
func (t *Table) used() []place {
	if t.head.clock.Load() == 0 {
		return nil
	}
	return t.places
}

// inherit takes over the head of another table.
func (t *Table) inherit(epoch, clock, base uint64) {
	t.head.clock.Store(clock)
	t.head.base.Store(base)
	t.head.epoch.Store(epoch)
	t.epoch = epoch
}

// merge takes over a place of a table with another number of them: where this one has fewer,
// the later clock and the earlier moment count, and where it has more, all that share its bits get it.
func (t *Table) merge(saved Words, places uint32) {
	for i := uint32(saved[0]) & t.mask; i <= t.mask; i += places {
		p := &t.places[i]
		raise(&p.invalidated, saved[1])
		raise(&p.cleared, saved[2])
		if saved[3] == 0 {
			continue
		}
		if at := int64(saved[4]); p.expired.Load() == 0 || at < p.moment.Load() {
			p.moment.Store(at)
		}
		raise(&p.expired, saved[3])
	}
}

// Lose makes an empty table that of a cache whose last one was damaged: no value with tags
// holds that was stored before, and every namespace has another generation.
func (t *Table) Lose() {
	t.Reset()
	t.head.base.Store(t.epoch)
}

// Reset makes the table an empty one, of another epoch. Nothing uses it yet.
func (t *Table) Reset() {
	for i := range t.used() {
		p := &t.places[i]
		p.invalidated.Store(0)
		p.cleared.Store(0)
		p.expired.Store(0)
		p.moment.Store(0)
	}
	t.inherit(draw(), 0, 0)
}
