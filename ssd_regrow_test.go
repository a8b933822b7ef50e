package firn_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
)

// The SSD tier's index, which got no memory while RAM was short, grows again when RAM
// has more to give.
func TestIndexGrowsAgainWithRAM(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 8 << 20,
			SSD: firn.SSDOptions{Bytes: 64 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}.On(vfstest.NewMem())})
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
			if fill(5000); c.Stats().SSDIndexFull > 0 {
				break
			}
		}
		short := c.Stats()
		if short.SSDIndexFull == 0 {
			t.Fatalf("%d entries: the index is never full with %d bytes of RAM", short.SSDEntries, short.RAMBytes)
		}
		if err := c.SetRAMBytes(8 << 20); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		fill(int(short.SSDEntries) * 2)
		s := c.Stats()
		if s.SSDIndexBytes < short.SSDIndexBytes*5/4 || s.SSDEntries < short.SSDEntries*5/4 {
			t.Errorf("the index had %d bytes for %d records, and with more RAM %d for %d", short.SSDIndexBytes, short.SSDEntries, s.SSDIndexBytes, s.SSDEntries)
		}
		if s.RAMUsedBytes > s.RAMBytes {
			t.Errorf("%d bytes of RAM of %d", s.RAMUsedBytes, s.RAMBytes)
		}
	})
}
