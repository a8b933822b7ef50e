package bytes

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/memory"
)

const mib = 1 << 20

// group is a group of processes with a limit, for a watcher of its own.
type group struct {
	limit int64
	free  atomic.Int64 // what the neighbors leave
	cache atomic.Pointer[firn.Cache]
}

// newGroup has the process be in a group of so many bytes, until the test ends.
func newGroup(t *testing.T, limit int64) *group {
	before := memory.Process
	t.Cleanup(func() { memory.Process = before })
	g := &group{limit: limit}
	g.free.Store(limit)
	memory.Process = &memory.Watcher{Usage: g.usage, Growth: func() int64 { return 0 }, Calm: time.Minute}
	return g
}

func (g *group) usage() memory.Usage {
	free := g.free.Load()
	if c := g.cache.Load(); c != nil {
		free -= c.Stats().RAM.ResidentBytes
	}
	return memory.Usage{Limit: g.limit, File: "memory.max", Available: free}
}

func fill(t *testing.T, c *firn.Cache, n int) {
	t.Helper()
	var key [8]byte
	value := make([]byte, 1000)
	for i := range n {
		binary.LittleEndian.PutUint64(key[:], uint64(i))
		if err := c.Set(key[:], value); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAdaptiveBudget(t *testing.T) {
	g := newGroup(t, 1024*mib)
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 32 * mib, LeastRAMBytes: 4 * mib})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fill(t, c, 40_000)
		g.cache.Store(c)
		mostBytes := int64(32 * mib)
		want := func(after time.Duration, least, most int64) {
			t.Helper()
			time.Sleep(after)
			st := c.Stats().RAM
			if st.Bytes < least || st.Bytes > most || st.MostBytes != mostBytes || st.ResidentBytes > st.Bytes {
				t.Errorf("%d bytes of %d, want %d to %d", st.ResidentBytes, st.Bytes, least, most)
			}
		}
		want(2*time.Second, 32*mib, 32*mib)
		g.free.Store(86 * mib) // 64 are kept for surprises
		want(2*time.Second, 21*mib, 22*mib)
		g.free.Store(0)
		want(2*time.Second, 4*mib, 4*mib)
		g.free.Store(1024 * mib)
		want(58*time.Second, 4*mib, 4*mib)
		want(10*time.Second, 32*mib, 32*mib)

		if err := c.SetRAMBytes(2 * mib); err == nil || !strings.Contains(err.Error(), "LeastRAMBytes") {
			t.Errorf("below the least: %v", err)
		}
		if err := c.SetRAMBytes(16 * mib); err != nil { // the most, from now on
			t.Error(err)
		}
		mostBytes = 16 * mib
		want(2*time.Minute, 16*mib, 16*mib)
	})
}

// What is on the SSD stays there: the least holds its index.
func TestPressureKeepsTheSSD(t *testing.T) {
	g := newGroup(t, 1024*mib)
	c, err := firn.Open(firn.Options{RAMBytes: 24 * mib, LeastRAMBytes: 4 * mib,
		SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 64 * mib}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fill(t, c, 60_000)
	before := c.Stats().SSD
	g.free.Store(0)
	for c.Stats().RAM.Bytes > 20*mib {
		runtime.Gosched() // the watcher looks within a second
	}
	after := c.Stats()
	if after.SSD.Entries < before.Entries || after.SSD.IndexFull > before.IndexFull {
		t.Errorf("%d of %d entries on the SSD, %d found no room in the index", after.SSD.Entries, before.Entries, after.SSD.IndexFull)
	}
	if after.RAM.Bytes < 16*mib {
		t.Errorf("%d bytes of RAM are left, want 16 MiB beside the index", after.RAM.Bytes)
	}
}

func TestForgottenAdaptiveCacheIsCollected(t *testing.T) {
	newGroup(t, 1024*mib)
	collected := make(chan struct{})
	func() {
		c, err := firn.Open(firn.Options{RAMBytes: mib, LeastRAMBytes: mib})
		if err != nil {
			t.Error(err)
			close(collected)
			return
		}
		runtime.AddCleanup(c, func(struct{}) { close(collected) }, struct{}{})
	}()
	for {
		runtime.GC()
		select {
		case <-collected:
			return
		default:
		}
	}
}

func TestBudgetBeyondTheMachine(t *testing.T) {
	if firn.MemoryLimit() == 0 {
		t.Skip("this system names no limit of memory")
	}
	for field, o := range map[string]firn.Options{
		"RAMBytes":      {RAMBytes: 1 << 45},
		"LeastRAMBytes": {RAMBytes: 64 * mib, LeastRAMBytes: mib},
	} {
		_, err := firn.Open(o)
		if bad := new(firn.OptionError); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	c, err := firn.Open(firn.Options{RAMBytes: mib})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetRAMBytes(1 << 45); err == nil || c.Stats().RAM.Bytes != mib {
		t.Errorf("SetRAMBytes beyond the machine: %v", err)
	}
}
