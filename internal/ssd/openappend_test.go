package ssd

import (
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A record that was appended counts as alive before the index names it: its segment
// may be full and written by then, with all else in it dead, and is not given back.
func TestAppendedIsAliveBeforeItIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		key := w.key(0)
		x := w.tier.ids.Of(w.hasher.Hash(key))
		s := w.tier.index.shardOf(x)
		s.mu.Lock() // as Demote holds it
		r := format.Record{Key: key, Value: []byte("value")}
		loc, size, ok := w.tier.log.append(x, &r, forDemote)
		if !ok {
			t.Fatal("no room")
		}
		slot, _ := w.tier.log.Place(loc)
		w.tier.log.mu.Lock()
		w.tier.log.seal()
		w.tier.log.mu.Unlock()
		synctest.Wait()
		if v, ok := w.tier.log.chooseVictim(false); !ok || v.slot != slot || v.share == 0 {
			t.Errorf("to be reclaimed: %+v, %v: want slot %d, which is not dead", v, ok, slot)
		}
		s.put(s.NewEntry(x, loc, size, format.IsWhole))
		s.mu.Unlock()
		w.close(t)
	})
}
