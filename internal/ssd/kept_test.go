package ssd

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// filled is a tier with so many records, all written.
func filled(t *testing.T, w *world, cfg Config, keys int) {
	t.Helper()
	w.reopen(t, cfg)
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.settle()
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

// Row 11: the disk fails, and the tier is off; keys are set; the process dies. What the
// files have is not believed, though they were not changed. When the tier is on again
// before that, the new log is.
func TestFault11KilledWhileOff(t *testing.T) {
	t.Parallel()
	for name, healed := range map[string]bool{"off": false, "on again": true} {
		inBubble(t, name, func(t *testing.T) {
			const keys = 100
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			cfg := testConfig(mem, w)
			cfg.HealEvery = time.Hour
			filled(t, w, cfg, keys)
			w.tier.switchOff(syscall.EIO)
			for i := range keys / 2 {
				w.set(w.key(i), 0)
				if w.demote(w.key(i)) {
					t.Error("a tier that is off takes a record")
				}
			}
			w.there = map[string]uint64{}
			if healed {
				time.Sleep(2 * time.Hour)
				w.untilOn()
				for i := range keys / 4 {
					w.put(t, w.key(i))
				}
				w.settle()
			}
			h := w.killed(t, mem, testConfig)
			if lost := h.missing(t); len(lost) > 0 || h.tier.Len() != len(w.there) {
				t.Errorf("%d records, %d not found: want %d", h.tier.Len(), len(lost), len(w.there))
			}
			h.check(t, keys, healed)
			h.close(t)
			w.close(t)
		})
	}
}

// Clear is done when it returns, whatever the disk does, and nothing of before comes
// back after a kill, or Close.
func TestFault16ClearWhileStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		filled(t, w, testConfig(f, w), keys)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpChange, Block: true})
		for i := range 20 {
			w.set(w.key(i), 0)
			w.demote(w.key(i))
		}
		w.tier.log.flushOpen()
		stuck.AwaitBlocked(1)
		began := time.Now()
		w.tier.Clear()
		if took := time.Since(began); took > 0 {
			t.Errorf("Clear took %v", took)
		}
		w.there, w.ram = map[string]uint64{}, map[string]value{}
		for i := range keys {
			w.acked[string(w.key(i))] = w.seq + 1
		}
		h := w.killed(t, mem, testConfig)
		if n := h.tier.Len(); n != 0 {
			t.Errorf("%d records came back", n)
		}
		h.check(t, keys, false)
		h.close(t)
		stuck.Remove()
		w.seq += 2
		w.put(t, w.key(1))
		w.settle()
		h = w.killed(t, mem, testConfig)
		if n := h.tier.Len(); n != 1 {
			t.Errorf("%d records: want the one that was put after Clear", n)
		}
		h.close(t)
		for i := range w.tier.log.slots {
			if n := w.tier.log.slots[i].alive.Load(); n < 0 || n > 1<<12 {
				t.Errorf("slot %d: weight %d alive", i, n)
			}
		}
		w.close(t)
		w.reopen(t, testConfig(mem, w))
		w.check(t, keys, true)
		w.close(t)
	})
}

// An index that is killed while it moves entries has each of them where it was, or
// where it goes, or there twice; and no entry that was taken out.
func TestKilledBetweenTwoStores(t *testing.T) {
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 4, Shards: 1, Stride: 512, SegmentShift: 16, UnitShift: 3, LocationBits: 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	x := newIndex(0, m, false)
	x.allowed.Store(x.maxBytes)
	s := &x.shards[0]
	want := map[uint64]format.Location{}
	rng := newWorld(t, 1).rng
	before := make([]uint64, len(s.all))
	all := func(format.Location) bool { return true }
	words := func(w []uint64) []byte { return bytesOf(w) }
	for range 4000 {
		copy(before, s.all)
		old := map[uint64]format.Location{}
		for fp, loc := range want {
			old[fp] = loc
		}
		homes := s.capacity
		n := format.ID(rng.IntN(300)) << 32
		fp := s.FingerprintOf(n)
		if at, _, ok := s.search(fp); ok {
			s.removeAt(at)
			delete(want, fp)
		} else if x.reserveSlot(s) {
			loc := format.Location(1024 + rng.IntN(1000))
			s.put(s.NewEntry(n, loc, 100, format.IsWhole))
			want[fp] = loc
		}
		if s.capacity != homes || bytes.Equal(words(before), words(s.all)) {
			continue
		}
		// What the shard has of before and after, store for store, in either order of
		// those that the change is made of, is tried by killedHalfway in the order in
		// which it made them: from the end to the gap for put, on from it for remove.
		got, _ := s.survivors(nil, all)
		if len(got) != len(want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		halves(before, s.all, len(want) > len(old), func(table []uint64) {
			half := &shard{Layout: s.Layout, all: table, head: s.head, capacity: s.capacity}
			kept, _ := half.survivors(nil, all)
			for _, w := range kept {
				fp, loc := s.Fingerprint(format.Entry(w)), s.Location(format.Entry(w))
				if want[fp] != loc && old[fp] != loc {
					t.Fatalf("entry %x: location %d, want %d or %d", fp, loc, want[fp], old[fp])
				}
			}
			for fp := range want {
				if _, was := old[fp]; was && !has(s, kept, fp) {
					t.Fatalf("entry %x is gone", fp)
				}
			}
		})
	}
}

func has(s *shard, words []uint64, fp uint64) bool {
	for _, w := range words {
		if s.Fingerprint(format.Entry(w)) == fp {
			return true
		}
	}
	return false
}

// halves calls f for every table between two: with the changed words stored one
// after the other, from the last to the first if down is set, or from the first.
func halves(before, after []uint64, down bool, f func(table []uint64)) {
	table := append([]uint64(nil), before...)
	var changed []int
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, i)
		}
	}
	for k := range changed {
		i := changed[k]
		if down {
			i = changed[len(changed)-1-k]
		}
		table[i] = after[i]
		f(table)
	}
}

// Start fails, for RAM has no room for what the tier takes. The files and the memory
// that was left stay, and the next Open finds all.
func TestStartFails(t *testing.T) {
	t.Parallel()
	for _, end := range []ending{killed, closing} {
		inBubble(t, string(end), func(t *testing.T) {
			const keys = 100
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			filled(t, w, testConfig(mem, w), keys)
			if end == killed {
				clone := mem.CrashClone(nil, vfstest.Kill)
				w.close(t)
				mem = clone
			} else {
				w.close(t)
			}
			for _, memory := range []int64{1 << 20, 2 << 20} {
				h := w.heir()
				cfg := testConfig(mem, h)
				cfg.Memory = memory
				tier, err := Open(cfg)
				if err != nil {
					t.Fatal(err)
				}
				if err := tier.Start(func(int64) error { return syscall.ENOMEM }); !errors.Is(err, syscall.ENOMEM) {
					t.Fatalf("Start: %v", err)
				}
				if err := tier.Close(); err != nil {
					t.Fatal(err)
				}
				tier.Free()
			}
			h := w.heir()
			h.reopen(t, testConfig(mem, h))
			if lost := h.missing(t); len(lost) > 0 {
				t.Errorf("%d of %d records are not found", len(lost), keys)
			}
			h.close(t)
		})
	}
}

// Row 10: the superblock cannot be written at Open, for there is no space. The tier is
// off, or, if the files say that there is data, it does not open.
func TestFault10NoSpaceForSuperblock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		for _, kept := range []bool{false, true} {
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			if kept {
				filled(t, w, testConfig(mem, w), keys)
				w.close(t)
			}
			f := vfstest.NewFaulty(mem)
			full := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.SuperblockName, Err: syscall.ENOSPC})
			err := w.open(testConfig(f, w))
			switch {
			case kept && !errors.Is(err, syscall.ENOSPC):
				t.Errorf("Open over data: %v", err)
			case !kept && (err != nil || w.tier.Stats().On):
				t.Errorf("Open over nothing: %v", err)
			}
			full.Remove()
			if w.tier != nil {
				if err == nil {
					w.untilOn()
				}
				_ = w.tier.Close()
				w.tier.Free()
			}
			synctest.Wait()
			w.reopen(t, testConfig(mem, w))
			if lost := w.missing(t); len(lost) > 0 {
				t.Errorf("%d of %d are not found", len(lost), len(w.there))
			}
			w.close(t)
		}
	})
}

// Row 10: there is no space for the files of a killed cache, which are to be larger or
// not. The tier is off; what was left is gone; and it is on when there is space.
func TestFault10NoSpaceAfterKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 3000
		for _, memory := range []int64{1 << 20, 2 << 20} {
			w := newWorld(t, 1)
			w.most = 50
			mem := vfstest.NewMem()
			filled(t, w, testConfig(mem, w), keys)
			id := w.tier.index.ID()
			h := w.heir()
			left := mem.CrashClone(nil, vfstest.Kill)
			f := vfstest.NewFaulty(left)
			full := f.Inject(vfstest.Rule{On: vfstest.OpAllocate, Err: syscall.ENOSPC})
			cfg := testConfig(f, h)
			cfg.Memory = memory
			h.reopen(t, cfg)
			if h.tier.Stats().On {
				t.Fatal("on, without space")
			}
			if m, err := left.OpenMemory(id); err == nil {
				t.Error("the memory of a log that is not kept is still there")
				_ = m.Close()
			} else if errors.Is(err, vfs.ErrLocked) && memory > 1<<20 {
				t.Error("the memory of a log that is not kept is still open")
			}
			h.check(t, keys, false)
			full.Remove()
			h.untilOn()
			if used, least := h.tier.index.used.Load(), minTables(len(h.tier.index.shards)); used != least {
				t.Errorf("an empty index takes %d bytes, want %d", used, least)
			}
			h.there = map[string]uint64{}
			h.put(t, h.key(1))
			h.close(t)
			h.reopen(t, testConfig(left, h))
			h.check(t, keys, true)
			h.close(t)
			w.close(t)
		}
	})
}

// Row 21 and 30: the log holds more records than an index in less RAM can name. As many
// as it can are kept, after a kill and after Close.
func TestFault21LessMemoryThanEntries(t *testing.T) {
	t.Parallel()
	for _, end := range []ending{killed, closing} {
		inBubble(t, string(end), func(t *testing.T) {
			const keys = 30_000
			w := newWorld(t, 1)
			w.most = 1
			mem := vfstest.NewMem()
			cfg := testConfig(mem, w)
			cfg.Bytes, cfg.Memory = 8<<20, 4<<20
			w.reopen(t, cfg)
			for i := range keys {
				w.put(t, w.key(i))
			}
			w.settle()
			var files vfs.FS = mem.CrashClone(nil, vfstest.Kill)
			w.close(t)
			if end == closing {
				files = mem
			}
			cfg.FS, cfg.Memory = files, 1<<20
			tier, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			w.opened.add(tier, false)
			w.tier = tier
			charged := int64(0)
			if err := tier.Start(func(n int64) error {
				if charged += n; charged > tier.memory.fixed+150<<10 {
					charged -= n
					return syscall.ENOMEM
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			s := tier.Stats()
			if s.Records == 0 || s.Records == keys || s.Records+int64(s.Evicted) != keys {
				t.Errorf("%d records, %d evicted, of %d", s.Records, s.Evicted, keys)
			}
			alive := int64(0)
			for i := range tier.log.slots {
				alive += tier.log.slots[i].alive.Load()
			}
			if want := s.Records * int64(format.WeightOf(40)); alive != want {
				t.Errorf("the weight of what is alive is %d, want %d", alive, want)
			}
			w.check(t, keys, true)
			w.close(t)
		})
	}
}
