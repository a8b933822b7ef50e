package ram

import (
	"encoding/binary"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/watch"
)

// tailLen is the length of what SetTail compares and replaces.
const tailLen = 16

// SetTail replaces the last 8 bytes of a watched key's value, a number in little-endian order, if
// the number before it is expect, and reports whether it has. It is no write: watches and OnEvict
// hear nothing, and the lower tier's copy stays as it is. A record that straddles, is long or is
// being demoted stays, too; so does one whose watch is void.
func (t *Tier) SetTail(w *watch.Watch, expect, tail uint64) bool {
	s := t.shardOf(w.Hash())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || w.Voided() {
		return false
	}
	_, _, r, ok := s.find(w.Hash(), w.Key())
	end := uint64(r.valueOffset() + r.valueLen)
	if !ok || r.valueLen < tailLen || !s.overwritable(r.off, r.shape, end) {
		return false
	}
	var b [tailLen]byte
	binary.LittleEndian.PutUint64(b[:], expect)
	binary.LittleEndian.PutUint64(b[8:], tail)
	at := r.off + end - tailLen
	if !t.region.Equal(at, b[:8]) {
		return false
	}
	h := t.header(r.off)
	version := h.version.Load() // odd while the bytes change, as when the whole value does
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	t.region.CopyIn(at+8, b[8:])
	offheap.StoreRelease32(&h.version, (version+2)&^recordFlags|version&recordFlags)
	return true
}
