package ssd

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// fileSize is how long a file is.
func fileSize(t testing.TB, m *vfstest.Mem, name string) int64 {
	t.Helper()
	f, err := m.Open(name, vfs.How{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := f.Size()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// fileBytes is what all files take together.
func fileBytes(t testing.TB, m *vfstest.Mem) (n int64) {
	t.Helper()
	names, err := m.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		n += fileSize(t, m, name)
	}
	return n
}

// Row 21: the log is opened with another geometry. It is kept or dropped as
// docs/FORMAT.md says, the files take no more than is asked for now, none is
// left over, and nothing wrong is found.
func TestFault21Geometry(t *testing.T) {
	t.Parallel()
	const keys = 300
	for _, c := range []struct {
		name   string
		change func(c *Config)
		kept   bool
	}{
		{"the same", func(*Config) {}, true},
		{"more bytes", func(c *Config) { c.Bytes *= 3 / 2 }, true},
		{"twice the bytes", func(c *Config) { c.Bytes *= 2 }, true},
		{"many times the bytes", func(c *Config) { c.Bytes *= 64 }, false},
		{"fewer bytes", func(c *Config) { c.Bytes /= 2 }, false},
		{"larger segments", func(c *Config) { c.SegmentBytes *= 2 }, false},
		{"the segments that it has", func(c *Config) { c.SegmentBytes = 0 }, true},
		{"more RAM", func(c *Config) { c.Memory *= 4 }, true},
		{"less RAM", func(c *Config) { c.Memory /= 8 }, true},
		{"too little RAM", func(c *Config) { c.Memory, c.SegmentBytes = 1<<20, 0 }, false},
		{"compression", func(c *Config) { c.Compress = true }, true},
		{"other admission", func(c *Config) { c.Admission = AdmitRead }, true},
		{"a write budget", func(c *Config) { c.WriteBudget = 1 << 40 }, true},
		{"no direct I/O", func(c *Config) { c.Direct = DirectOff }, true},
		{"other depth", func(c *Config) { c.Depth = 1 }, true},
	} {
		for _, end := range []ending{killed, closing} {
			if invariants.Race && (c.name != "more bytes" && c.name != "less RAM" || end != killed) {
				continue // on the Go heap, what all of them open takes gigabytes
			}
			inBubble(t, fmt.Sprintf("%s, %s", c.name, end), func(t *testing.T) {
				w := newWorld(t, 21)
				mem := vfstest.NewMem()
				mem.SetDirect(4096)
				cfg := testConfig(mem, w)
				cfg.Bytes, cfg.Memory, cfg.SegmentBytes = 8<<20, 16<<20, 256<<10
				w.reopen(t, cfg)
				w.steps(t, 3000, keys)
				w.written()
				files := mem.CrashClone(nil, vfstest.Kill)
				w.close(t)
				if end == closing {
					files = mem
				}
				h := w.heir()
				cfg.FS, cfg.Now = files, h.now.Load
				c.change(&cfg)
				h.reopen(t, cfg)
				if n := h.tier.Len(); n > 0 != c.kept {
					t.Fatalf("%d records; want kept %v", n, c.kept)
				}
				if n := fileBytes(t, files); n > cfg.Bytes {
					t.Fatalf("the files take %d bytes, want no more than %d", n, cfg.Bytes)
				}
				h.check(t, keys, c.kept)
				h.steps(t, 3000, keys)
				h.close(t)
				if n := fileBytes(t, files); n > cfg.Bytes {
					t.Fatalf("closed, the files take %d bytes, want no more than %d", n, cfg.Bytes)
				}
				h.reopen(t, cfg)
				h.check(t, keys, true)
				h.close(t)
				names, _ := files.List()
				if len(names) != 4 {
					t.Fatalf("the files are %v", names)
				}
			})
		}
	}
}

// Row 21: with another seed, as of a new log, no key of the old one is found.
func TestFault21Seed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		seed := w.tier.Seed()
		w.close(t)
		cfg := testConfig(mem, w)
		cfg.Recovery = RecoverNever
		w.reopen(t, cfg)
		if w.tier.Seed() == seed || w.tier.Len() != 0 {
			t.Fatal("the same log")
		}
		w.check(t, 10, false)
		w.close(t)
	})
}

// Row 23: a deadline that has passed stays passed, whatever the clock does, for
// this process, the next, and one after a crash; and a clock that jumps ahead
// does no more harm than that what expires then is gone.
func TestFault23Clock(t *testing.T) {
	for _, end := range []ending{killed, closing} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { clockJumps(t, end) })
		})
	}
}

func clockJumps(t *testing.T, end ending) {
	const year = 365 * 24 * 3600 * 1000
	w := newWorld(t, 1)
	mem := vfstest.NewMem()
	w.now.Store(10 * year)
	w.reopen(t, testConfig(mem, w))
	for i, deadline := range []int64{0, w.now.Load() + 1000, w.now.Load() + 2*year} {
		if w.set(w.key(i), deadline); !w.demote(w.key(i)) {
			t.Fatal("not demoted")
		}
	}
	found := func() (keys string) {
		for i := range 3 {
			if _, err := w.tier.Get(context.Background(), nil, w.key(i), w.hasher.Hash(w.key(i))); err == nil {
				keys += fmt.Sprint(i)
			}
		}
		return keys
	}
	expect := func(when, want string) {
		t.Helper()
		if got := found(); got != want {
			t.Fatalf("%s: found %q, want %q", when, got, want)
		}
	}
	next := func(step int64) {
		w.written()
		if end == closing {
			w.close(t)
		} else {
			time.Sleep(flushEvery) // the keeper notes the time
			synctest.Wait()
			clone := mem.CrashClone(nil, vfstest.Kill)
			w.close(t)
			mem = clone
		}
		w.now.Add(step)
		w.reopen(t, testConfig(mem, w))
	}
	expect("at once", "012")
	w.now.Add(999)
	expect("a moment before", "012")
	next(-5 * year) // the clock of this process stands for itself
	expect("opened with a clock five years back", "012")
	w.now.Add(1)
	expect("when it expires", "02")
	next(-5 * year)
	expect("opened with a clock ten years back", "02")
	w.now.Add(year)
	expect("a year later", "02")
	next(3 * year)
	next(-3 * year)
	next(0)
	if got := found(); got != "0" && got != "02" {
		t.Fatalf("after jumps: %q", got)
	}
	next(20 * year)
	expect("decades later", "0")
	next(-20 * year)
	expect("and back", "0")
	w.close(t)
}

// Row 23: the process dies before maintenance has noted that it is late. A segment
// that was sealed by then says so, too: in the memory, and, where that is gone, in
// its trailer.
func TestFault23SealedLate(t *testing.T) {
	bubble(t, func(t *testing.T) { // whose clock stands still: maintenance sleeps
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		key := w.key(1)
		if w.set(key, w.now.Load()+1000); !w.demote(key) {
			t.Fatal("not demoted")
		}
		w.now.Add(2000)
		first, _, _ := w.tier.openAt()
		keys := 2
		for now := first; now == first; now, _, _ = w.tier.openAt() {
			w.put(t, w.key(keys))
			keys++
		}
		w.written()
		w.now.Add(-2000)
		after := func(what string, config func(vfs.FS, *world) Config) (h *world) {
			h = w.killed(t, mem, config)
			if f, err := h.tier.Get(context.Background(), nil, key, h.hasher.Hash(key)); err == nil {
				t.Errorf("%s: expired, and back: %d bytes", what, len(f.Value))
			}
			return h
		}
		h := after("memory", testConfig)
		h.check(t, keys, true)
		h.close(t)
		h = after("another boot", func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.Recovery, cfg.BootID = RecoverAlways, func() string { return "another" }
			return cfg
		})
		if h.tier.Len() == 0 {
			t.Error("another boot: nothing was read")
		}
		h.close(t)
		w.close(t)
	})
}

// Row 23: order comes from the log, not from the clock: it steps back while keys
// are written again and again.
func TestFault23Order(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 23)
		mem := vfstest.NewMem()
		w.now.Store(1 << 40)
		w.reopen(t, smallConfig(mem, w))
		for range 10 {
			w.steps(t, 300, keys)
			w.now.Add(-1_000_000)
			w.written()
			w.checkKilled(t, mem, smallConfig, keys, true)
		}
		w.close(t)
	})
}
