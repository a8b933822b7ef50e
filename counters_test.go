package firn

import (
	"testing"

	"github.com/firncache/firn/stats"
)

// Counters do not fall, though what they are taken from may.
func TestCountersNeverFall(t *testing.T) {
	t.Parallel()
	c, err := Open(Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Get(nil, []byte("absent"))
	before := stats.Cache{Hits: 7, Misses: 1000, FrontHits: 9, SSD: stats.SSD{Rejected: 11}}
	c.told.keep(&before) // as if so many had been counted, and all but one lost since
	if s := c.Stats(); s.Hits != 7 || s.Misses != 1000 || s.FrontHits != 9 || s.SSD.Rejected != 11 {
		t.Errorf("after %+v: %+v", before, s)
	}
	more := stats.Cache{Hits: 8, Misses: 999, FrontHits: 10, SSD: stats.SSD{Rejected: 10}}
	c.told.keep(&more)
	if want := (stats.Cache{Hits: 8, Misses: 1000, FrontHits: 10, SSD: stats.SSD{Rejected: 11}}); more != want {
		t.Errorf("told %+v, want %+v", more, want)
	}
}
