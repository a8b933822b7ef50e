package ssd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// The SSD tier's index, which got no memory while RAM was short, grows again when RAM
// has more to give.
func TestIndexGrowsAgainWithRAM(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 8 << 20,
			SSD: harness.On(firn.SSDOptions{Bytes: 64 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, vfstest.NewMem())})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		next := 0
		fill := func(n int) {
			for range n {
				if err := c.Set(modelKey(next), make([]byte, 20)); err != nil {
					t.Fatal(err)
				}
				next++
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		least := int64(1500 << 10)
		for c.SetRAMBytes(least) != nil {
			least += 64 << 10
		}
		for range 40 {
			if fill(5000); c.Stats().SSD.IndexFull > 0 {
				break
			}
		}
		short := c.Stats()
		if short.SSD.IndexFull == 0 {
			t.Fatalf("%d entries: the index is never full with %d bytes of RAM", short.SSD.Entries, short.RAM.Bytes)
		}
		if err := c.SetRAMBytes(8 << 20); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		fill(int(short.SSD.Entries) * 3) // more than RAM holds
		s := c.Stats()
		if s.SSD.IndexBytes < short.SSD.IndexBytes*5/4 || s.SSD.Entries < short.SSD.Entries*5/4 {
			t.Errorf("the index had %d bytes for %d records, and with more RAM %d for %d", short.SSD.IndexBytes, short.SSD.Entries, s.SSD.IndexBytes, s.SSD.Entries)
		}
		if s.RAM.UsedBytes > s.RAM.Bytes {
			t.Errorf("%d bytes of RAM of %d", s.RAM.UsedBytes, s.RAM.Bytes)
		}
	})
}
