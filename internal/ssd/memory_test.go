package ssd

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A tier's memory follows the RAM budget, however large its files are.
func TestMemoryOfLargeFiles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		cfg := testConfig(vfstest.NewMem(), w)
		cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<30, 0, 2<<20
		w.reopen(t, cfg)
		if n := w.tier.Stats().MemoryBytes; n > cfg.Memory/3 {
			t.Errorf("%d bytes of memory for a RAM budget of %d", n, cfg.Memory)
		}
		l := w.tier.log
		slots := int64(cap(l.Slots))*int64(reflect.TypeFor[log.Slot]().Size()) + int64(cap(l.Free))*int64(reflect.TypeFor[int32]().Size()) + int64(len(l.SlotWords))*int64(reflect.TypeFor[format.SlotWords]().Size())
		if n := log.SlotMemory * int64(len(l.Slots)); slots != n || n > cfg.Memory/32 {
			t.Errorf("slots take %d bytes of memory: %d are charged, of a RAM budget of %d", slots, n, cfg.Memory)
		}
		w.close(t)
	})
}

// Rows 30 and 31: at every change of a file all of them together take no more
// than Bytes, and memory no more than its share, whatever is written, while the
// tier is closed and opened again.
func TestFault30and31Budgets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 20_000
		w, mem := newWorld(t, 30), vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		cfg := testConfig(f, w)
		var charged, most atomic.Int64
		var files int64
		measure := func() {
			files = max(files, fileBytes(t, mem))
		}
		n := 0
		f.Inject(vfstest.Rule{On: vfstest.OpChange &^ (vfstest.OpSync | vfstest.OpSyncDir), Hook: func(op vfstest.Op) {
			if op.Kind != vfstest.OpWrite || op.Name != format.LogName { // that never grows
				measure()
				n++
			}
		}})
		for round := range 3 {
			charged.Store(0)
			w.startCharging(t, cfg, func(more int64) error {
				most.Store(max(most.Load(), charged.Add(more)))
				return nil
			})
			w.most = []int{1, 3000, 60_000}[round]
			for i := range []int{20_000, 3000, 200}[round] {
				key := w.key(round*keys + i)
				v := bytes.Repeat([]byte{1}, w.most)
				deadline := []int64{w.now.Load() + 1, 0, 0}[round] // what expires takes room, too
				w.tier.Demote(w.tier.ids.Hasher.Hash(key), key, v, deadline, true, record.SameCopy)
				w.ready()
				if s := w.tier.Stats(); s.MemoryBytes > cfg.Memory || s.FileBytes > cfg.Bytes {
					t.Fatalf("%+v", s)
				}
			}
			if s := w.tier.Stats(); s.Demoted == 0 {
				t.Fatalf("%+v", s)
			}
			if round == 1 {
				mem.Restore(w.end(t, mem, killed).Dump())
			} else {
				w.close(t)
			}
			measure()
		}
		if files > cfg.Bytes || files < cfg.Bytes/2 || n == 0 {
			t.Fatalf("the files took %d bytes, want no more than %d; looked %d times", files, cfg.Bytes, n)
		}
		if m := most.Load(); m > cfg.Memory || m == 0 {
			t.Fatalf("%d bytes of memory were charged, of %d", m, cfg.Memory)
		}
	})
}

// Row 30: without memory for more, what does not fit is dropped, and nothing
// wrong is found, also once the tier is opened again.
func TestFault30NoMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 5000
		w := newWorld(t, 30)
		w.most = 10
		mem := vfstest.NewMem()
		for _, allowed := range []int64{0, 64 << 10} {
			var started atomic.Bool
			left := allowed // of more than it begins with
			tier := w.startCharging(t, testConfig(mem, w), func(n int64) error {
				if started.Load() {
					if left -= n; left < 0 {
						return errors.New("no memory")
					}
				}
				return nil
			})
			started.Store(true)
			w.steps(t, 20_000, keys)
			w.check(t, keys, true)
			if used, allowed := tier.index.Used.Load(), tier.index.Allowed.Load(); used > allowed {
				t.Fatalf("the index takes %d bytes, and %d are allowed", used, allowed)
			}
			w.written()
			mem = w.end(t, mem, killed)
			w.crashed()
		}
		w.reopen(t, testConfig(mem, w))
		w.check(t, keys, true)
		w.close(t)
	})
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
				large := with(testConfig, func(cfg *Config) { cfg.Bytes, cfg.Memory = 8<<20, 8<<20 })
				w, mem := started(t, 1, large)
				w.most = 1
				w.fill(t, keys)
				w.written()
				had := w.tier.Len()
				h := w.heirIn(t)
				cfg := large(w.end(t, mem, end), h)
				cfg.Memory = budget
				tier := mustOpen(t, cfg)
				left := int64(math.MaxInt64)
				if what == "RAM" {
					left = tier.memory.fixed + 200<<10
				}
				h.tier, h.hasher = tier, tier.ids.Hasher
				h.opened.add(tier, false)
				tier.restarting.Lock() // the maintain loop has other things to do
				noError(t, tier.Start(func(n int64) error {
					if n > left {
						return syscall.ENOMEM
					}
					left -= n
					return nil
				}))
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
			w.fill(t, keys)
			w.settle()
			cfg.FS, cfg.Memory = w.end(t, mem, end), 1<<20
			charged := int64(0)
			tier := w.startCharging(t, cfg, func(n int64) error {
				if charged += n; charged > w.tier.memory.fixed+150<<10 {
					charged -= n
					return syscall.ENOMEM
				}
				return nil
			})
			s := tier.Stats()
			if s.Records == 0 || s.Records == keys || s.Records+int64(s.Evicted) != keys {
				t.Errorf("%d records, %d evicted, of %d", s.Records, s.Evicted, keys)
			}
			alive, want := int64(0), int64(0)
			for i := range tier.log.Slots {
				alive += tier.log.Slots[i].Alive.Load()
			}
			for _, e := range allEntries(tier.index) {
				want += int64(tier.log.Weight(e.Class()))
			}
			if alive != want {
				t.Errorf("the weight of what is alive is %d, want %d", alive, want)
			}
			w.check(t, keys, true)
			w.close(t)
		})
	}
}
