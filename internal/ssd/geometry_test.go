package ssd

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 21: the log is opened with another geometry. It is kept or dropped as
// docs/internals/FORMAT.md says, the files take no more than is asked for now, none is
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
		{"fewer bytes", func(c *Config) { c.Bytes /= 2 }, true},
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
				w, mem := newWorld(t, 21), vfstest.NewMem()
				mem.SetDirect(4096)
				cfg := testConfig(mem, w)
				cfg.Bytes, cfg.Memory, cfg.SegmentBytes = 8<<20, 16<<20, 256<<10
				w.reopen(t, cfg)
				w.steps(t, 3000, keys)
				w.written()
				files := w.end(t, mem, end)
				h := w.heir()
				cfg.FS, cfg.Now = files, h.now.Load
				c.change(&cfg)
				h.reopen(t, cfg)
				if n := h.tier.Len(); n > 0 != c.kept {
					t.Fatalf("%d records; want kept %v", n, c.kept)
				}
				h.settle() // until the log has shrunk
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
		w, mem := started(t, 1, testConfig)
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

// Row 21: what a directory held before does not decide whether it can be used. A
// quota that is too small for the old log's segments gets those of a new one.
func TestFault21SmallerThanOldSegments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := newWorld(t, 1), vfstest.NewMem()
		cfg := testConfig(mem, w)
		cfg.Memory, cfg.Bytes, cfg.SegmentBytes = 256<<20, 64<<20, 4<<20
		w.reopen(t, cfg)
		w.put(t, w.key(1))
		w.close(t)
		cfg.Bytes, cfg.SegmentBytes = 8<<20, 0
		w.reopen(t, cfg)
		w.wantLen(t, 0)
		plan, err := Plan(cfg)
		noError(t, err)
		if s := &w.tier.super; int64(s.SegmentBytes) != plan.SegmentBytes || int64(s.Segments) != plan.Segments {
			t.Errorf("%d segments of %d bytes: want %+v", s.Segments, s.SegmentBytes, plan)
		}
		w.put(t, w.key(1))
		w.close(t)
	})
}
