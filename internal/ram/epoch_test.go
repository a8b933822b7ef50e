package ram

import (
	"fmt"
	"testing"
)

// Whoever read in a segment notices that it was given back, whatever else is
// as it was.
func TestReuseIsNoticed(t *testing.T) {
	tier := newTier(t, 64<<10)
	for i := range 100 {
		if err := tier.setKey(fmt.Append(nil, i), make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
	}
	key := []byte("99") // in the open segment: it stays when the others go
	hash := tier.Hash(key)
	s := tier.shardOf(hash)
	b, slot, r, ok := s.find(hash, key)
	if !ok {
		t.Fatal("the key is not there")
	}
	h, loc, epoch := tier.header(r.off), b.Location(slot), s.epoch.Load()
	version := h.version.Load()
	if !s.unchanged(epoch, b, slot, loc, h, version) {
		t.Fatal("it changed though nobody did anything")
	}
	for i := range 90 {
		tier.deleteKey(fmt.Append(nil, i))
	}
	if h.version.Load() != version || b.Location(slot) != loc {
		t.Fatal("the record moved: choose another")
	}
	if s.unchanged(epoch, b, slot, loc, h, version) {
		t.Error("a reader does not notice that segments were given back")
	}
}
