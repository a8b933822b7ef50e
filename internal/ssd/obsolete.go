package ssd

import (
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
)

// headBytes is how many bytes of a compressed value SetObsolete's function is shown.
const headBytes = 256

// SetObsolete has records evicted, from now on, instead of moved, that have no reader any
// more and do not know it: obsolete is shown a record's key and the first bytes of its
// value, which are lent, and is called with no lock held. Of a value in parts it is shown
// the first part, with a key that is none of the user's. Reads and Demote do not call it.
func (t *Tier) SetObsolete(obsolete func(key, head []byte) bool) { t.obsolete.Store(&obsolete) }

// isObsolete reports whether a record has no reader any more.
func (t *Tier) isObsolete(r *format.Record) bool {
	f := t.obsolete.Load()
	if f == nil || !beginsValue(r) {
		return false
	}
	head := r.Value
	if r.Flags&format.FlagCompressed != 0 {
		var room [headBytes]byte
		head = expandStart(room[:0], head)
	}
	return (*f)(r.Key, head)
}

// beginsValue reports whether the bytes of a record are the first of a value: those of a
// head are not the user's, and a later part may begin with anything.
func beginsValue(r *format.Record) bool {
	switch r.Kind() {
	case format.IsHead:
		return false
	case format.IsPart:
		k, ok := format.ParsePartKey(r.Key)
		return ok && k.Part == 0
	}
	return true
}

// dropObsolete takes a record of a segment out of the index, if that still names it.
func (t *Tier) dropObsolete(v *log.Victim, l format.Listed) {
	s := t.index.ShardOf(l.ID)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if at, e, ok := t.entryOfRecord(s, v, l); ok {
		t.dropEntry(s, l.ID, at, e)
		if l.Kind != format.IsPart || t.dropOwner(s, l.ID) {
			t.count.invalidated.Add(1)
		}
	}
}
