package ssd

import (
	"encoding/binary"

	"github.com/firncache/firn/internal/ssd/format"
)

// SetObsolete has records evicted, from now on, instead of moved, that have no reader any
// more and do not know it: obsolete is shown a record's key and the first bytes of its
// value, which are lent, and is called with no lock held. Of a value in parts it is shown
// the first part, with a key that is none of the user's. Reads and Demote do not ask.
func (t *Tier) SetObsolete(obsolete func(key, head []byte) bool) { t.obsolete.Store(&obsolete) }

// isObsolete reports whether a record has no reader any more.
func (t *Tier) isObsolete(r *format.Record) bool {
	f := t.obsolete.Load()
	if f == nil || !beginsValue(r) {
		return false
	}
	head := r.Value
	if r.Flags&format.FlagCompressed != 0 {
		head = firstLiteral(head)
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

// firstLiteral is how an s2 block's value begins, without expanding it: a block has the
// value's length, and then a literal, for there is nothing before it that could be
// copied. Bytes at random, as those of tags, are all in it.
func firstLiteral(block []byte) []byte {
	_, at := binary.Uvarint(block)
	if at <= 0 || at >= len(block) || block[at]&3 != 0 {
		return nil
	}
	n, extra := int(block[at]>>2), 0
	at++
	if n >= 60 { // the length is in the next bytes
		extra = n - 59
		if extra > 2 || at+extra > len(block) { // a literal of more than 64 KiB has no place in what is shorter for it
			return nil
		}
		n = 0
		for i := range extra {
			n |= int(block[at+i]) << (8 * i)
		}
	}
	from := at + extra
	return block[from:min(from+n+1, len(block))]
}

// dropObsolete takes a record of a segment out of the index, if that still names it.
func (t *Tier) dropObsolete(v *victim, l format.Listed) {
	s := t.index.shardOf(l.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, e, ok := t.entryOfRecord(s, v, l); ok {
		t.dropEntry(s, l.ID, at, e)
		if l.Kind != format.IsPart || t.dropOwner(s, l.ID) {
			t.count.invalidated.Add(1)
		}
	}
}
