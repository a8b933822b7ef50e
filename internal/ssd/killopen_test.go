package ssd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 5: the process dies again at every operation of Open, after a kill, after
// Close, and where the index moves to other memory, for there is another budget or
// quota: the next finds all again.
func TestFault05KillInOpen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(cfg *Config){
		"as it was":     func(*Config) {},
		"more memory":   func(cfg *Config) { cfg.Memory *= 2 },
		"less memory":   func(cfg *Config) { cfg.Memory = cfg.Memory * 3 / 4 },
		"a larger disk": func(cfg *Config) { cfg.Bytes += cfg.Bytes / 2 },
	} {
		for _, end := range []ending{killed, closing} {
			if invariants.Race && (name != "less memory" || end != killed) {
				continue // on the Go heap, what all of them open takes gigabytes
			}
			inBubble(t, fmt.Sprintf("%s, %s", name, end), func(t *testing.T) {
				const keys = 300
				config := with(testConfig, func(cfg *Config) { cfg.Memory = 2 << 20 })
				w, mem := started(t, 1, config)
				w.fill(t, keys)
				w.setKeys(keys / 4)
				for i := range 20 {
					w.bump(i)
				}
				w.settle()
				mem = w.end(t, mem, end)
				changed := with(config, change)
				n := vfstest.EachBoundary(mem, func(fs vfs.FS) {
					h := w.heirOf(t, fs, changed)
					h.wantAll(t, "by the process that lives on")
					h.close(t)
				}, apart(t, func(b vfstest.Boundary) {
					for _, config := range []func(vfs.FS, *world) Config{config, changed} {
						h := w.heir()
						cfg := config(b.Crash(nil, vfstest.Kill), h)
						if cfg.Bytes < changed(nil, h).Bytes {
							continue // the log may have grown by then, and is dropped in less space
						}
						h.reopen(t, cfg)
						h.wantAll(t, b)
						h.check(t, keys, false)
						h.close(t)
					}
				}))
				if n < 8 {
					t.Errorf("%d operations", n)
				}
			})
		}
	}
}

// Row 5: what is set and deleted as soon as the log is open again, after a kill,
// stays so after another.
func TestFault05KilledAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w, mem := started(t, 2, testConfig)
		w.fill(t, keys)
		for life := range sized(8, 40) {
			w.settle()
			mem = w.end(t, mem, killed)
			w = w.heir()
			w.rng = rand.New(rand.NewPCG(uint64(life), 5))
			w.reopen(t, testConfig(mem, w))
			w.wantAll(t, "in life", life)
			w.check(t, keys, true)
			for range keys / 4 {
				w.put(t, w.key(w.rng.IntN(keys)))
				w.delete(w.key(w.rng.IntN(keys)))
			}
		}
		w.close(t)
	})
}

// Row 1 and 7: the process dies while a slot is used again, at whose end the
// trailer of the segment before it still stands. What was written is found, and
// the segment makes room when its turn comes.
func TestFault07OldTrailer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := started(t, 1, smallConfig)
		i := 0
		for ; w.tier.Stats().Reclaimed < 2; i++ {
			w.put(t, w.key(i))
		}
		slot, _, _ := w.tier.openAt()
		for now := slot; now == slot; now, _, _ = w.tier.openAt() { // begin another
			w.put(t, w.key(i))
			i++
		}
		w.put(t, w.key(i))
		w.settle()
		h := w.killed(t, mem, smallConfig)
		for _, k := range []int{i - 1, i} {
			if err := h.getKey(k); err != nil {
				t.Errorf("key %d, which was just written: %v", k, err)
			}
		}
		for j := range 2 * i { // round the log
			h.put(t, h.key(10_000+j))
		}
		h.check(t, i, false)
		h.close(t)
		w.close(t)
	})
}

// What a process was writing when it was killed is sealed by the next one: no list is
// missing when it comes to be reclaimed, and none of its records.
func TestLastSegmentIsSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 40
		w, mem := started(t, 1, testConfig)
		w.fill(t, keys)
		w.written()
		slot, serial, _ := w.tier.openAt()
		clone := w.end(t, mem, killed)
		h := w.heirIn(t)
		h.reopenAtRest(t, testConfig(clone, h))
		recs, err := h.tier.readList(slot, serial)
		named := 0
		h.tier.index.Each(func(_ format.ID, e format.Entry) format.Entry {
			if at, _ := h.tier.log.Place(h.tier.index.Location(e)); at == slot {
				named++
			}
			return e
		})
		if err != nil || len(recs) == 0 || len(recs) != named {
			t.Errorf("its list has %d records, %v, and the index names %d", len(recs), err, named)
		}
		h.close(t)
		wantWhole(t, clone)
		h.reopen(t, testConfig(clone, h))
		h.fill(t, 4000) // until everything was reclaimed once
		if s := h.tier.Stats(); s.ReadErrors != 0 || s.Corrupt != 0 || s.Reclaimed < 20 {
			t.Errorf("%+v", s)
		}
		h.close(t)
	})
}

// Segments of which nothing had reached the file when a process was killed are none:
// their slots are free, and what comes next is written there.
func TestUnwrittenSegmentIsFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem, f := startedFaulty(t, 1, testConfig)
		held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		for i := 0; !w.tier.log.Stalled.Load(); i++ {
			key := w.key(i)
			w.tier.Demote(w.hasher.Hash(key), key, make([]byte, 1000), 0, true, record.SameCopy)
		}
		clone := mem.CrashClone(nil, vfstest.Kill)
		held.Remove()
		w.close(t)
		h := w.heirIn(t)
		h.reopenAtRest(t, testConfig(clone, h))
		if n, free, slots := h.tier.Len(), h.tier.log.FreeSlots(), len(h.tier.log.Slots); h.tier.source != fromMemory || n != 0 || free != slots {
			t.Errorf("%d records, %d of %d slots free, from %d", n, free, slots, h.tier.source)
		}
		h.restart(t, testConfig(clone, h))
		h.put(t, h.key(1))
		wantErr(t, h.getKey(1), nil)
		h.close(t)
		wantWhole(t, clone)
	})
}

// Row 19: the files of a killed cache are copied. The copy starts empty: the memory is
// of the files that it was made for, and stays with them.
func TestFault19CopiedAfterKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem := filled(t, keys, testConfig)
		left, copied := mem.CrashClone(nil, vfstest.Kill), vfstest.NewMem()
		for name, b := range left.Dump() {
			noError(t, copied.SetBytes(name, b))
		}
		h := w.heirOf(t, copied, testConfig)
		h.wantLen(t, 0)
		h.check(t, keys, false)
		h.steps(t, 100, keys)
		h.close(t)
		h = w.heirOf(t, left, testConfig)
		h.wantAll(t)
		h.close(t)
		w.close(t)
	})
}

// Memory that says something else than the superblock is not believed: of another
// log, of another form, or said to be of no worth.
func TestMemoryOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w, mem := filled(t, keys, testConfig)
		head := w.tier.index.Head
		shape := head.Shape
		for name, change := range map[string]func(back bool){
			"log":   func(bool) { head.LogID ^= 1 },
			"magic": func(bool) { head.Magic ^= 1 },
			"slots": func(bool) { head.Shape[0] ^= 1 },
			"shards": func(back bool) {
				if head.Shape[1] *= 2; back {
					head.Shape = shape
				}
			},
			"stride": func(back bool) {
				if head.Shape[2] = 1 << 61; back {
					head.Shape = shape
				}
			},
			"valid": func(back bool) {
				if head.Valid.Store(0); back {
					head.Valid.Store(1)
				}
			},
		} {
			change(false)
			h := w.killed(t, mem, testConfig)
			change(true)
			h.wantLen(t, 0, name)
			h.check(t, keys, false)
			h.close(t)
		}
		h := w.killed(t, mem, testConfig)
		h.wantAll(t)
		h.close(t)
		w.close(t)
	})
}

// Without memory that outlives the process the tier serves, and says once that it
// is empty after a crash. After Close it is not.
func TestTierWithoutKeptMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem := newWorld(t, 1), vfstest.NewMem()
		mem.SetMemory(false)
		cfg := testConfig(mem, w)
		told := tell(&cfg)
		w.reopen(t, cfg)
		w.fill(t, keys)
		w.settle()
		if w.tier.Stats().Kept {
			t.Error("Stats: the index is in memory that outlives the process")
		}
		if lines := told.about("outlives the process"); len(lines) != 1 {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, 0)
		h.check(t, keys, false)
		h.close(t)
		w.restart(t, testConfig(mem, w))
		w.wantAll(t)
		w.close(t)
		mem.SetMemory(true)
		w.reopen(t, testConfig(mem, w))
		if !w.tier.Stats().Kept {
			t.Error("Stats: the index is in memory that ends with the process")
		}
		w.close(t)
	})
}

// The index of a process that was killed, which the system still holds for another, is no
// reason to begin the log anew: Open says that the directory is in use, and once it is
// not, all is there.
func TestMemoryInUseIsNotLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w, mem := started(t, 1, testConfig)
		w.fill(t, keys)
		w.settle()
		dead := mem.CrashClone(nil, vfstest.Kill)
		held, err := dead.OpenMemory(vfs.MemoryID(w.tier.super.Memory))
		noError(t, err)
		if _, err := Open(testConfig(dead, w)); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("Open: %v, want ErrLocked", err)
		}
		noError(t, held.Close())
		h := w.heirAtRest(t, dead, testConfig)
		if there := w.tier.Len(); h.tier.Len() != there {
			t.Errorf("%d records are found, want %d", h.tier.Len(), there)
		}
		h.close(t)
		w.close(t)
	})
}
