package ssd

import (
	"context"
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// checkAlive compares what the log counts as alive with what the index names. The
// tier does nothing else meanwhile.
func checkAlive(t *testing.T, tier *Tier) {
	t.Helper()
	alive := make([]int64, len(tier.log.slots))
	tier.index.each(func(_ format.ID, e format.Entry) format.Entry {
		slot, _ := tier.log.Place(tier.index.Location(e))
		alive[slot] += int64(e.Weight())
		return e
	})
	for i := range alive {
		if n := tier.log.slots[i].alive.Load(); n != alive[i] {
			t.Errorf("slot %d: %d is counted as alive, the index names %d", i, n, alive[i])
		}
	}
}

// allEntries are those of an index, in its order.
func allEntries(x *index) (entries []format.Entry) {
	x.each(func(_ format.ID, e format.Entry) format.Entry { entries = append(entries, e); return e })
	return entries
}

// An index that does not fit into the memory that there is now is kept as far as it
// does, however the log was left.
func TestIndexInLessMemory(t *testing.T) {
	t.Parallel()
	const keys = 40_000
	for _, end := range []ending{killed, closing} {
		for what, budget := range map[string]int64{"budget": 512 << 10, "RAM": 8 << 20} {
			if end == killed && what == "RAM" {
				continue // it had the memory, and has it again
			}
			inBubble(t, string(end)+", "+what, func(t *testing.T) {
				w := newWorld(t, 1)
				w.most = 1
				mem := vfstest.NewMem()
				cfg := testConfig(mem, w)
				cfg.Bytes, cfg.Memory = 8<<20, 8<<20
				w.reopen(t, cfg)
				for i := range keys {
					w.put(t, w.key(i))
				}
				w.written()
				had := w.tier.Len()
				files := mem.CrashClone(nil, vfstest.Kill)
				w.close(t)
				if end == closing {
					files = mem
				}
				h := w.heirIn(t)
				h.most = 1
				cfg.FS, cfg.Now = files, h.now.Load
				cfg.Memory = budget
				tier, err := Open(cfg)
				if err != nil {
					t.Fatal(err)
				}
				left := int64(math.MaxInt64)
				if what == "RAM" {
					left = tier.memory.fixed + 200<<10
				}
				h.tier, h.hasher = tier, tier.ids.Hasher
				h.opened.add(tier, false)
				tier.restarting.Lock() // the keeper has other things to do
				if err := tier.Start(func(n int64) error {
					if n > left {
						return syscall.ENOMEM
					}
					left -= n
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if n := tier.Len(); n == 0 || n >= had {
					t.Errorf("%d of %d records: want some, and not all", n, had)
				}
				checkAlive(t, tier)
				tier.restarting.Unlock()
				h.check(t, keys, true)
				h.steps(t, 3000, keys)
				h.close(t)
			})
		}
	}
}

// A snapshot brings back the entries, and what the log knew of its slots.
func TestSnapshotRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		cfg := testConfig(mem, w)
		w.reopen(t, cfg)
		w.steps(t, 8000, 1000)
		w.kept() // there is nothing to be reclaimed while Close begins
		entries, slots := allEntries(w.tier.index), w.tier.log.slotStates()
		w.close(t)
		w.reopenAtRest(t, cfg)
		if w.tier.source != fromSnapshot {
			t.Fatalf("the index is from %d", w.tier.source)
		}
		if got := allEntries(w.tier.index); len(got) == 0 || !slices.Equal(got, entries) {
			t.Errorf("%d entries, want %d, the same", len(got), len(entries))
		}
		if got := w.tier.log.slotStates(); !slices.Equal(got, slots) {
			t.Errorf("the slots are %d, want %d", got, slots)
		}
		free := 0
		for i := range w.tier.log.slotWords {
			if w.tier.log.slotWords[i].Serial.Load() == 0 {
				free++
			}
		}
		if free == 0 || free != w.tier.log.freeSlots() {
			t.Errorf("%d slots have nothing, %d are free", free, w.tier.log.freeSlots())
		}
		checkAlive(t, w.tier)
		w.check(t, 1000, true)
		w.close(t)
	})
}

// A snapshot that would take more than is kept for it is not written: the index stays
// in memory, and whoever opens the files goes on with it, as long as the machine is
// up.
func TestSnapshotTooLarge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 25_000
		w := newWorld(t, 1)
		w.most = 1
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		entries := w.tier.count.demoted.Load()
		if names, _ := mem.List(); slices.Contains(names, format.SnapshotName) || slices.Contains(names, format.SnapshotTempName) {
			t.Errorf("the files are %v", names)
		}
		if n := fileBytes(t, mem); n > testConfig(mem, w).Bytes {
			t.Errorf("the files take %d bytes", n)
		}
		if in := inspect(t, mem); !in.Memory || in.Superblock.Clean {
			t.Errorf("inspected: closed %v, the index is there %v", in.Superblock.Clean, in.Memory)
		}
		down := mem.CrashClone(w.rng, vfstest.PowerCut)
		w.reopenAtRest(t, testConfig(mem, w))
		if n := w.tier.Len(); w.tier.source != fromMemory || n < keys*3/4 {
			t.Errorf("%d records of %d, from %d", n, entries, w.tier.source)
		}
		checkAlive(t, w.tier)
		w.check(t, keys, true)
		w.close(t)
		w.reopen(t, testConfig(down, w))
		if n := w.tier.Len(); n != 0 {
			t.Errorf("after the machine went down: %d records", n)
		}
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
