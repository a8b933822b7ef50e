package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// An id that the index takes for another's is the other's everywhere: a write of
// either takes out what there is.
func TestIDsThatTheIndexCannotTell(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		cfg := testConfig(mem, w)
		cfg.Bytes = 4 << 20
		w.reopen(t, cfg)
		key := w.key(1)
		a := w.hasher.Hash(key)
		b := a ^ 1<<(63-w.tier.index.shardBits) // differs in the highest bit below the shard's number
		if n := w.tier.index.shardBits + w.tier.index.FingerprintBits(); n >= format.IDBits {
			t.Fatalf("the index keeps %d bits of an id: nothing to test", n)
		}
		if !w.tier.Demote(a, key, []byte("old"), 0, true, true) {
			t.Fatal("not demoted")
		}
		w.tier.Superseded(b) // another key is being written
		w.tier.Superseded(a) // and this one is
		w.written()
		h := w.heir()
		cfg.FS = mem.CrashClone(nil, vfstest.Kill)
		h.reopen(t, cfg)
		if f, err := h.tier.Get(background, nil, key, a); err == nil {
			t.Errorf("%q is back", f.Value)
		}
		for i := range 20 {
			h.put(t, h.key(100+i))
		}
		h.close(t)
		w.close(t)
	})
}
