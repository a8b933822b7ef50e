package ssd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
	"github.com/firncache/firn/stats"
)

// While the disk does not write, reads of what lies there push nothing out of RAM
// that would have to be written first, and the index of what lies there takes no
// memory from RAM.
func TestReadsOfBusyDiskDropNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, readsOfBusyDisk)
}

func readsOfBusyDisk(t *testing.T) {
	const n = 5000
	c, f, _ := onFaulty(t, n)
	defer c.Close()
	synctest.Wait() // until the index has the memory that it asked for
	held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: "log", Block: true})
	defer held.Remove()
	var last stats.Cache
	for i := n; ; i++ { // until so much waits to be written that Set drops what does not fit
		key, value := harness.Numbered(i)
		if err := c.Set(key, append(value, make([]byte, 400)...)); err != nil {
			t.Fatal(err)
		}
		if last = c.Stats(); last.SSD.Dropped > 0 {
			break
		}
		if i > 100*n {
			t.Fatalf("%+v: the disk is never behind", last)
		}
	}
	for i := range n {
		key, _ := harness.Numbered(i)
		c.Get(nil, key)
	}
	time.Sleep(time.Minute) // what is done in the background now and then is done
	synctest.Wait()
	now := c.Stats()
	if now.SSD.Hits == last.SSD.Hits {
		t.Fatalf("%+v: nothing was read from the disk", now)
	}
	if now.SSD.Dropped != last.SSD.Dropped || now.SSD.IndexFull != last.SSD.IndexFull || now.Evictions != last.Evictions {
		t.Errorf("%d records were dropped for what was read", now.Evictions-last.Evictions)
	}
	if now.SSD.MemoryBytes != last.SSD.MemoryBytes {
		t.Errorf("the SSD tier took %d bytes more of RAM", now.SSD.MemoryBytes-last.SSD.MemoryBytes)
	}
	held.Remove()
	time.Sleep(time.Minute)
	synctest.Wait()
	for i := range n { // once the disk writes again, what is read comes to RAM
		key, _ := harness.Numbered(i)
		c.Get(nil, key)
	}
	if after := c.Stats(); after.SSD.Promotions == now.SSD.Promotions {
		t.Errorf("%+v: nothing that was read from the disk came to RAM", after)
	}
}
