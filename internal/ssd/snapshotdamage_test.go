package ssd

import (
	"bytes"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
)

// fewShards is a tier of a small snapshot that has several shards.
var fewShards = with(testConfig, func(cfg *Config) { cfg.Bytes, cfg.Memory, cfg.SegmentBytes = 16<<20, 8<<20, 1<<20 })

// A flipped bit in the snapshot costs its shard at most, or the registry, and one in a
// superblock nothing; no key is found with a value that is not its last.
func TestOneFlippedBitCostsOneShard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 60
		w, mem := started(t, 1, fewShards)
		w.most = 100
		w.fill(t, keys)
		for i := range 10 {
			w.bump(i)
		}
		shards := map[string]int{}
		for key := range w.there {
			shards[key] = int(w.tier.ids.Of(w.hasher.Hash([]byte(key))) >> (format.IDBits - w.tier.index.ShardBits))
		}
		w.close(t)
		super, snapshot := bytesIn(t, mem, format.SuperblockName), bytesIn(t, mem, format.SnapshotName)
		s, err := format.ReadSnapshot(bytes.NewReader(snapshot), int64(len(snapshot)), &w.tier.super.Superblock)
		noError(t, err)
		if len(s.Shards) < 4 || len(s.Clocks) < 2 {
			t.Fatalf("a snapshot of %d shards and %d parts of the registry", len(s.Shards), len(s.Clocks))
		}
		flip := func(name string, at, most int, registry bool) {
			noError(t, mem.SetBytes(format.SuperblockName, super))
			noError(t, mem.SetBytes(format.SnapshotName, snapshot))
			noError(t, mem.Flip(name, int64(8*at+at%8)))
			h := w.heir()
			h.reopen(t, fewShards(mem, h))
			if name == format.SnapshotName && h.tier.count.corrupt.Load() == 0 {
				t.Errorf("%s, byte %d: the damage is not counted", name, at)
			}
			for id, g := range h.spaces {
				if (h.tier.Registry().Generation(id) == g) != registry {
					t.Errorf("%s, byte %d: the generation of %x is the same: want %v", name, at, id, registry)
				}
			}
			lost := map[int]bool{}
			for _, key := range h.missing(t) {
				lost[shards[key]] = true
			}
			if len(lost) > most || h.tier.source != fromSnapshot {
				t.Errorf("%s, byte %d: %d shards are lost, want %d at most, and the index is from %s", name, at, len(lost), most, h.tier.source)
			}
			h.close(t)
		}
		step := 5
		if *long {
			step = 1
		}
		for at := 0; at < len(snapshot); at += step {
			most := 1
			if int64(at) < s.EntriesAt() || int64(at) >= s.Fronts()[1] {
				most = 0
			}
			flip(format.SnapshotName, at, most, int64(at) < s.RegistryAt() || int64(at) >= s.EntriesAt())
		}
		for at := 0; at < format.SuperblockLen+format.BudgetLen+4; at += step {
			flip(format.SuperblockName, at, 0, true)
			flip(format.SuperblockName, format.SuperblockBytes+at, 0, true)
		}
	})
}
