package registry

// Words are a part of a table's saved form. The first part is the head: epoch, clock, base, and
// how many places there are. Each other part is a place at which something happened: its
// number, and what it has.
type Words [5]uint64

// Save is the saved form of a table. It has what happened before it was called.
func (t *Table) Save() (saved []Words) {
	saved = append(saved, Words{})
	for i := range t.used() {
		if p := &t.places[i]; p.invalidated.Load()|p.cleared.Load() != 0 {
			saved = append(saved, Words{uint64(i), p.invalidated.Load(), p.cleared.Load()})
		}
	}
	// The clock is not before that of any place.
	saved[0] = Words{t.epoch, t.head.clock.Load(), t.head.base.Load(), uint64(len(t.places))}
	return saved
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
		if w[0] >= h[3] || w[1] > h[1] || w[2] > h[1] {
			t.Lose()
			return false
		}
		t.merge(uint32(w[0]), uint32(h[3]), w[1], w[2])
	}
	return true
}

// Copy gives an empty table what an older one has, which nothing changes.
func (t *Table) Copy(old *Table) {
	t.inherit(old.epoch, old.head.clock.Load(), old.head.base.Load())
	for i := range old.used() {
		p := &old.places[i]
		if a, b := p.invalidated.Load(), p.cleared.Load(); a|b != 0 {
			t.merge(uint32(i), uint32(len(old.places)), a, b)
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
// the later clock counts, and where it has more, all that share its bits get it.
func (t *Table) merge(at, places uint32, invalidated, cleared uint64) {
	for i := at & t.mask; i <= t.mask; i += places {
		raise(&t.places[i].invalidated, invalidated)
		raise(&t.places[i].cleared, cleared)
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
		t.places[i].invalidated.Store(0)
		t.places[i].cleared.Store(0)
	}
	t.inherit(draw(), 0, 0)
}
