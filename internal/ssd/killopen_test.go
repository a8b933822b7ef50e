package ssd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
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
				config := func(fs vfs.FS, w *world) Config {
					cfg := testConfig(fs, w)
					cfg.Memory = 2 << 20
					return cfg
				}
				w := newWorld(t, 1)
				mem := vfstest.NewMem()
				w.reopen(t, config(mem, w))
				for i := range keys {
					w.put(t, w.key(i))
				}
				for i := range keys / 4 {
					w.set(w.key(i), 0)
				}
				w.settle()
				if end == killed {
					mem = mem.CrashClone(nil, vfstest.Kill)
				}
				w.close(t)
				changed := func(fs vfs.FS, w *world) Config {
					cfg := config(fs, w)
					change(&cfg)
					return cfg
				}
				n := vfstest.EachBoundary(mem, func(fs vfs.FS) {
					h := w.heir()
					h.reopen(t, changed(fs, h))
					if lost := h.missing(t); len(lost) > 0 {
						t.Errorf("%d of %d are not found", len(lost), len(h.there))
					}
					h.close(t)
				}, apart(t, func(b vfstest.Boundary) {
					for _, config := range []func(vfs.FS, *world) Config{config, changed} {
						h := w.heir()
						cfg := config(b.Crash(nil, vfstest.Kill), h)
						if cfg.Bytes < changed(nil, h).Bytes {
							continue // the log may have grown by then, and is dropped in less space
						}
						h.reopen(t, cfg)
						if lost := h.missing(t); len(lost) > 0 {
							t.Errorf("%v: %d of %d are not found", b, len(lost), len(h.there))
						}
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
		w := newWorld(t, 2)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		for life := range sized(8, 40) {
			w.settle()
			clone := mem.CrashClone(nil, vfstest.Kill)
			old := w
			w = w.heir()
			old.close(t)
			mem = clone
			w.rng = rand.New(rand.NewPCG(uint64(life), 5))
			w.reopen(t, testConfig(mem, w))
			if lost := w.missing(t); len(lost) > 0 {
				t.Fatalf("life %d: %d of %d are not found", life, len(lost), len(w.there))
			}
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
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, smallConfig(mem, w))
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
			if _, err := h.tier.Get(background, nil, h.key(k), h.hasher.Hash(h.key(k))); err != nil {
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
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		slot, serial, _ := w.tier.openAt()
		clone := mem.CrashClone(nil, vfstest.Kill)
		w.close(t)
		h := w.heirIn(t)
		h.reopenAtRest(t, testConfig(clone, h))
		recs, err := h.tier.readList(slot, serial)
		named := 0
		h.tier.index.each(func(_ format.ID, e format.Entry) format.Entry {
			if at, _ := h.tier.log.Place(h.tier.index.Location(e)); at == slot {
				named++
			}
			return e
		})
		if err != nil || len(recs) == 0 || len(recs) != named {
			t.Errorf("its list has %d records, %v, and the index names %d", len(recs), err, named)
		}
		h.close(t)
		if problems := verify(t, clone); len(problems) > 0 {
			t.Error(problems)
		}
		h.reopen(t, testConfig(clone, h))
		for i := range 4000 { // until everything was reclaimed once
			h.put(t, h.key(i))
		}
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
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		for i := 0; !w.tier.log.stalled.Load(); i++ {
			key := w.key(i)
			w.tier.Demote(w.hasher.Hash(key), key, make([]byte, 1000), 0, true, true)
		}
		clone := mem.CrashClone(nil, vfstest.Kill)
		held.Remove()
		w.close(t)
		h := w.heirIn(t)
		h.reopenAtRest(t, testConfig(clone, h))
		if n, free, slots := h.tier.Len(), h.tier.log.freeSlots(), len(h.tier.log.slots); h.tier.source != fromMemory || n != 0 || free != slots {
			t.Errorf("%d records, %d of %d slots free, from %d", n, free, slots, h.tier.source)
		}
		h.close(t)
		h.reopen(t, testConfig(clone, h))
		h.put(t, h.key(1))
		if _, err := h.tier.Get(context.Background(), nil, h.key(1), h.hasher.Hash(h.key(1))); err != nil {
			t.Error(err)
		}
		h.close(t)
		if problems := verify(t, clone); len(problems) > 0 {
			t.Error(problems)
		}
	})
}

// Row 19: the files of a killed cache are copied. The copy starts empty: the memory is
// of the files that it was made for, and stays with them.
func TestFault19CopiedAfterKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		filled(t, w, testConfig(mem, w), keys)
		left, copied := mem.CrashClone(nil, vfstest.Kill), vfstest.NewMem()
		for name, b := range left.Dump() {
			if err := copied.SetBytes(name, b); err != nil {
				t.Fatal(err)
			}
		}
		h := w.heir()
		h.reopen(t, testConfig(copied, h))
		if n := h.tier.Len(); n != 0 {
			t.Errorf("%d records by another's memory", n)
		}
		h.check(t, keys, false)
		h.steps(t, 100, keys)
		h.close(t)
		h = w.heir()
		h.reopen(t, testConfig(left, h))
		if lost := h.missing(t); len(lost) > 0 {
			t.Errorf("%d of %d records of the first are not found", len(lost), keys)
		}
		h.close(t)
		w.close(t)
	})
}

// Memory that says something else than the superblock is not believed: of another
// log, of another form, or said to be of no worth.
func TestMemoryOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		filled(t, w, testConfig(mem, w), keys)
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
			if n := h.tier.Len(); n != 0 {
				t.Errorf("%s: %d records", name, n)
			}
			h.check(t, keys, false)
			h.close(t)
		}
		h := w.killed(t, mem, testConfig)
		if lost := h.missing(t); len(lost) > 0 {
			t.Errorf("%d of %d records are not found with all as it was", len(lost), keys)
		}
		h.close(t)
		w.close(t)
	})
}

// Without memory that outlives the process the tier serves, and says once that it
// is empty after a crash. After Close it is not.
func TestTierWithoutKeptMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		mem.SetMemory(false)
		cfg := testConfig(mem, w)
		told := tell(&cfg)
		filled(t, w, cfg, keys)
		if w.tier.Stats().Kept {
			t.Error("Stats: the index is in memory that outlives the process")
		}
		if lines := told.about("outlives the process"); len(lines) != 1 {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
		h := w.killed(t, mem, testConfig)
		if n := h.tier.Len(); n != 0 {
			t.Errorf("%d records after a kill", n)
		}
		h.check(t, keys, false)
		h.close(t)
		w.close(t)
		w.reopen(t, testConfig(mem, w))
		if lost := w.missing(t); len(lost) > 0 {
			t.Errorf("%d of %d records are not found after Close", len(lost), keys)
		}
		w.close(t)
		mem.SetMemory(true)
		w.reopen(t, testConfig(mem, w))
		if !w.tier.Stats().Kept {
			t.Error("Stats: the index is in memory that ends with the process")
		}
		w.close(t)
	})
}
