package firn_test

import (
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/vfs"
)

// While the disk does not write, reads of what lies there push nothing out of RAM
// that would have to be written first.
func TestReadsOfBusyDiskDropNothing(t *testing.T) {
	const n = 5000
	c, f, _ := onFaulty(t, n)
	defer c.Close()
	held := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: "log", Block: true})
	defer held.Remove()
	var last firn.Stats
	for i := n; ; i++ { // until so much waits to be written that Set drops what does not fit
		key, value := numbered(i)
		if err := c.Set(key, append(value, make([]byte, 400)...)); err != nil {
			t.Fatal(err)
		}
		if last = c.Stats(); last.SSDShed > 0 {
			break
		}
		if i > 100*n {
			t.Fatalf("%+v: the disk is never behind", last)
		}
	}
	for i := range n {
		key, _ := numbered(i)
		c.Get(nil, key)
	}
	now := c.Stats()
	if now.SSDHits == last.SSDHits {
		t.Fatalf("%+v: nothing was read from the disk", now)
	}
	if now.SSDShed != last.SSDShed || now.Evictions != last.Evictions {
		t.Errorf("%d records were dropped for what was read", now.Evictions-last.Evictions)
	}
	held.Remove()
	// Once the disk writes again, what is read comes to RAM.
	for before := now.Promotions; c.Stats().Promotions == before; time.Sleep(time.Millisecond) {
		for i := range n {
			key, _ := numbered(i)
			c.Get(nil, key)
		}
	}
}
