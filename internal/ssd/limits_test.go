package ssd

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 28: few bits of the hash are kept, so that keys collide, in the end all of
// them: the right key, or a miss.
func TestFault28Collisions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for _, bits := range []int{0, 1, 4, 7} {
			w := newWorld(t, uint64(bits))
			mem := vfstest.NewMem()
			config := func() Config {
				cfg := smallConfig(mem, w)
				cfg.HashMask = ^(uint64(math.MaxUint64) >> bits)
				if bits == 0 {
					cfg.HashMask = 1 // of the low bits nothing is an id's
				}
				return cfg
			}
			w.reopen(t, config())
			collisions := uint64(0)
			for range 4 {
				w.steps(t, 1500, keys)
				collisions += w.tier.Stats().Collisions
				if w.rng.IntN(2) == 0 {
					w.close(t)
				} else {
					w.written()
					clone := mem.CrashClone(nil, vfstest.Kill)
					w.close(t)
					mem = clone
				}
				w.reopen(t, config())
				w.check(t, keys, false)
			}
			if w.hits == 0 || collisions == 0 {
				t.Fatalf("%d bits: %d hits, %d collisions: want both", bits, w.hits, collisions)
			}
			w.close(t)
		}
	})
}

// Row 29: deletes of keys that are not there write nothing; deletes of those that
// are, and updates of one key, leave the files as large as they are.
func TestFault29Storms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.most = 10
		before := f.Count(vfstest.OpWrite, format.LogName)
		for i := range 20_000 {
			w.delete(w.key(i))
		}
		if after := f.Count(vfstest.OpWrite, format.LogName); after != before {
			t.Fatalf("%d writes for deletes of what is not there", after-before)
		}
		for range 20_000 {
			w.put(t, w.key(1))
		}
		w.delete(w.key(1))
		for range 3 {
			for i := range 3000 {
				w.put(t, w.key(i))
			}
			for i := range 3000 {
				w.delete(w.key(i))
			}
		}
		s := w.tier.Stats()
		if s.Records != 0 || s.Superseded == 0 {
			t.Fatalf("%+v", s)
		}
		if n := fileBytes(t, mem); n > 2<<20 {
			t.Fatalf("the files take %d bytes", n)
		}
		h := w.killed(t, mem, testConfig)
		if n := h.tier.Len(); n != 0 {
			t.Fatalf("%d records come back", n)
		}
		h.close(t)
		w.close(t)
	})
}

// Rows 30 and 31: at every change of a file all of them together take no more
// than Bytes, and memory no more than its share, whatever is written, while the
// tier is closed and opened again.
func TestFault30and31Budgets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 20_000
		w := newWorld(t, 30)
		mem := vfstest.NewMem()
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
		open := func() {
			charged.Store(0)
			tier, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			w.tier = tier
			if err := tier.Start(func(more int64) error {
				most.Store(max(most.Load(), charged.Add(more)))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for round := range 3 {
			open()
			w.most = []int{1, 3000, 60_000}[round]
			for i := range []int{20_000, 3000, 200}[round] {
				key := w.key(round*keys + i)
				v := bytes.Repeat([]byte{1}, w.most)
				deadline := int64(0)
				if round == 0 { // what expires takes room, too
					deadline = w.now.Load() + 1
				}
				w.tier.Demote(w.tier.ids.Hasher.Hash(key), key, v, deadline, true, true)
				w.ready()
				if s := w.tier.Stats(); s.MemoryBytes > cfg.Memory || s.FileBytes > cfg.Bytes {
					t.Fatalf("%+v", s)
				}
			}
			if s := w.tier.Stats(); s.Demoted == 0 {
				t.Fatalf("%+v", s)
			}
			if round == 1 {
				clone := mem.CrashClone(nil, vfstest.Kill)
				if err := w.tier.Close(); err != nil {
					t.Fatal(err)
				}
				mem.Restore(clone.Dump())
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
			tier, err := Open(testConfig(mem, w))
			if err != nil {
				t.Fatal(err)
			}
			w.tier, w.hasher = tier, tier.ids.Hasher
			var started atomic.Bool
			left := allowed // of more than it begins with
			if err := tier.Start(func(n int64) error {
				if started.Load() {
					if left -= n; left < 0 {
						return errors.New("no memory")
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			started.Store(true)
			w.steps(t, 20_000, keys)
			w.check(t, keys, true)
			if used, allowed := tier.index.used.Load(), tier.index.allowed.Load(); used > allowed {
				t.Fatalf("the index takes %d bytes, and %d are allowed", used, allowed)
			}
			w.written()
			clone := mem.CrashClone(nil, vfstest.Kill)
			w.close(t)
			mem = clone
			w.crashed()
		}
		w.reopen(t, testConfig(mem, w))
		w.check(t, keys, true)
		w.close(t)
	})
}

// Row 27: a record that is not taken, for whatever reason, leaves nothing older
// of its key behind.
func TestFault27NotTaken(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]func(*Config){
		"admission":  func(c *Config) { c.Admission = AdmitRead },
		"the budget": func(c *Config) { c.WriteBudget = 1 },
		"its length": nil,
		"full":       nil,
		"off":        nil,
		"closed":     nil,
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			f := vfstest.NewFaulty(mem)
			w.reopen(t, testConfig(f, w))
			key := w.key(1)
			h := w.hasher.Hash(key)
			w.put(t, key)
			w.close(t)
			c := testConfig(f, w)
			if cfg != nil {
				cfg(&c)
			}
			w.reopen(t, c)
			w.next()
			value := w.bytesOf(key, w.seq, 100)
			w.superseded(key, w.seq)
			switch name {
			case "its length":
				value = make([]byte, format.MinSegment)
			case "full":
				stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
				defer stuck.Remove()
				for i := 0; w.tier.Demote(w.hasher.Hash(w.key(2+i)), w.key(2+i), make([]byte, 30), 0, true, true); i++ {
				}
			case "off":
				w.tier.switchOff(errors.New("test"))
			case "closed":
				w.close(t)
			}
			if w.tier.Demote(h, key, value, 0, name == "the budget" || name == "full", true) {
				t.Fatal("taken")
			}
			if _, err := w.tier.Get(context.Background(), nil, key, h); !errors.Is(err, ErrNotFound) {
				t.Fatalf("Get: %v, want ErrNotFound", err)
			}
			heir := w.killed(t, mem, testConfig)
			if err := heir.get(key); err != nil {
				t.Fatal(err)
			}
			heir.close(t)
			if name == "full" {
				return // see TestFault16StuckWrites
			}
			if err := w.tier.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Rows 25 and 26: a key is updated or deleted while its older version is read
// from the disk: the read does not return it, nor can it be promoted.
func TestFault25and26WriteDuringRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, write := range []string{"set", "delete", "set and demote"} {
			w := newWorld(t, 1)
			f := vfstest.NewFaulty(vfstest.NewMem())
			w.reopen(t, testConfig(f, w))
			key := w.key(1)
			w.put(t, key)
			w.close(t)
			w.reopen(t, testConfig(f, w))
			h := w.hasher.Hash(key)
			f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Times: 1, Hook: func(vfstest.Op) {
				switch write {
				case "delete":
					w.delete(key)
				case "set":
					w.set(key, 0)
				default:
					w.put(t, key)
				}
			}})
			found, err := w.tier.Get(context.Background(), nil, key, h)
			if !errors.Is(err, ErrChanged) {
				t.Fatalf("%s: Get: %v, want ErrChanged", write, err)
			}
			if w.tier.Holds(h, found.Token) {
				t.Fatalf("%s: can be promoted", write)
			}
			if err := w.get(key); err != nil {
				t.Fatal(err)
			}
			w.close(t)
		}
	})
}

// Row 26: what was read has to be asked for again before it is promoted.
func TestFault26Token(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		key := w.key(1)
		w.put(t, key)
		h := w.hasher.Hash(key)
		found, err := w.tier.Get(context.Background(), nil, key, h)
		if err != nil || !w.tier.Holds(h, found.Token) {
			t.Fatal(err, "not held")
		}
		w.put(t, key)
		if w.tier.Holds(h, found.Token) {
			t.Fatal("an older version is held")
		}
		w.tier.Clear()
		w.put(t, key)
		if w.tier.Holds(h, found.Token) {
			t.Fatal("a version from before Clear is held")
		}
		w.close(t)
	})
}
