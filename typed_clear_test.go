package firn_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// A Clear of a namespace of which the SSD cannot be told has taken effect, as that
// of a cache has: nothing older is found as long as the cache is open.
func TestTypedClearNotInvalidated(t *testing.T) {
	t.Parallel()
	var log logLines
	f := vfs.NewFaulty(vfs.NewMem())
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20,
		SSD: firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Log: log.logger()}.On(f).With(func(c *ssd.Config) {
			c.Throttle, c.HealEvery = time.Minute, time.Hour
		})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	texts := newTyped(t, c, firn.TypedOptions[int, string]{})
	if err := texts.Set(1, "old"); err != nil {
		t.Fatal(err)
	}
	in := f.Inject(vfs.Rule{On: vfs.OpAny &^ vfs.OpClose, Err: syscall.EIO})
	defer in.Remove()
	if err := texts.Clear(); !errors.Is(err, firn.ErrNotInvalidated) {
		t.Errorf("Clear: %v, want ErrNotInvalidated", err)
	}
	if v, ok := texts.Get(1); ok {
		t.Errorf("after Clear there is %q", v)
	}
	if err := texts.Set(1, "new"); err != nil && !errors.Is(err, firn.ErrNotInvalidated) {
		t.Error(err)
	}
	if v, _ := texts.Get(1); v != "new" {
		t.Errorf("after another Set: %q", v)
	}
}
