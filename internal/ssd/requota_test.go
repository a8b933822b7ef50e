package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 21: what a directory held before does not decide whether it can be used. A
// quota that is too small for the old log's segments gets those of a new one.
func TestFault21SmallerThanOldSegments(t *testing.T) {
	for name, old := range map[string]func(c *Config){
		"large segments": func(c *Config) { c.SegmentBytes = 4 << 20 },
		"a large log":    func(c *Config) { c.Bytes = 8 << 30 },
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			cfg := testConfig(mem, w)
			cfg.Memory, cfg.Bytes = 256<<20, 64<<20
			old(&cfg)
			w.reopen(t, cfg)
			w.put(t, w.key(1))
			w.close(t)
			cfg.Bytes, cfg.SegmentBytes = 8<<20, 0
			w.reopen(t, cfg)
			if n := w.tier.Len(); n != 0 {
				t.Errorf("%d records of a log that does not fit", n)
			}
			plan, err := Plan(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if s := &w.tier.super; int64(s.SegmentBytes) != plan.SegmentBytes || int64(s.Segments) != plan.Segments {
				t.Errorf("%d segments of %d bytes: want %+v", s.Segments, s.SegmentBytes, plan)
			}
			w.put(t, w.key(1))
			w.close(t)
		})
	}
}
