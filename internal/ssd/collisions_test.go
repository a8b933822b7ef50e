package ssd

import (
	"math"
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
)

// An id that the index takes for another's is the other's everywhere: a write of
// either takes out what there is.
func TestIDsThatTheIndexCannotTell(t *testing.T) {
	bubble(t, func(t *testing.T) {
		config := with(testConfig, func(cfg *Config) { cfg.Bytes = 4 << 20 })
		w, mem := started(t, 1, config)
		key := w.key(1)
		a := w.hasher.Hash(key)
		b := a ^ 1<<(63-w.tier.index.ShardBits) // differs in the highest bit below the shard's number
		if n := w.tier.index.ShardBits + w.tier.index.FingerprintBits(); n >= format.IDBits {
			t.Fatalf("the index keeps %d bits of an id: nothing to test", n)
		}
		if !w.tier.Demote(a, key, []byte("old"), 0, true, record.SameCopy) {
			t.Fatal("not demoted")
		}
		w.tier.Invalidate(b) // another key is being written
		w.tier.Invalidate(a) // and this one is
		w.written()
		h := w.killed(t, mem, config)
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

// Row 28: few bits of the hash are kept, so that keys collide, in the end all of
// them: the right key, or a miss.
func TestFault28Collisions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for _, bits := range []int{0, 1, 4, 7} {
			mask := max(^(uint64(math.MaxUint64) >> bits), 1) // of the low bits nothing is an id's
			config := with(smallConfig, func(cfg *Config) { cfg.HashMask = mask })
			w, mem := started(t, uint64(bits), config)
			collisions := uint64(0)
			for range 4 {
				w.steps(t, 1500, keys)
				collisions += w.tier.Stats().Collisions
				end := []ending{closing, killed}[w.rng.IntN(2)]
				w.written()
				mem = w.end(t, mem, end)
				w.reopen(t, config(mem, w))
				w.check(t, keys, false)
			}
			if w.hits == 0 || collisions == 0 {
				t.Fatalf("%d bits: %d hits, %d collisions: want both", bits, w.hits, collisions)
			}
			w.close(t)
		}
	})
}
