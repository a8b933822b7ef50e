package typed

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// OnEvict may use everything that typed caches have, also when what it hears of had to
// make room for the cache's memory of namespaces.
func TestOnEvictUsesTyped(t *testing.T) {
	t.Parallel()
	var c *firn.Cache
	told, during := 0, false
	var failed error
	use := func() error {
		again, err := firn.NewTyped(c, "again", firn.TypedOptions[int, int]{})
		if err != nil {
			return err
		}
		one, err := firn.NewTyped(c, "one", firn.TypedOptions[int, int]{})
		if err != nil {
			return err
		}
		return errors.Join(again.Clear(ctx), one.Clear(ctx), one.Set(1, 1), one.Close())
	}
	c = harness.OpenSmall(t, func(o *firn.Options) {
		o.RAMBytes = 16 << 20 // of which a segment is less than the table takes
		o.OnEvict = func(_, _ []byte, _ firn.Cause) {
			if during && told == 0 {
				told++
				failed = use()
			}
		}
	})
	for i := range 100_000 { // more than it holds
		key, value := harness.Numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	harness.Returns(t, "NewTyped", func() {
		during = true
		harness.NewTyped(t, c, "one", firn.TypedOptions[int, int]{})
		during = false
	})
	if failed != nil {
		t.Error(failed)
	}
	if told == 0 {
		t.Error("OnEvict was not called in NewTyped: the test shows nothing")
	}
	if s := c.Stats(); s.RAM.UsedBytes > s.RAM.Bytes || s.RAM.UsedBytes < s.RAM.RecordBytes+s.RAM.IndexBytes+s.RAM.OverheadBytes {
		t.Errorf("%+v", s)
	}
}

// Whatever has to do with namespaces alone waits for no disk.
func TestNamespacesOnStuckDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := vfstest.NewMem()
		c := harness.OpenOn(t, mem)
		for _, name := range []string{"known", "unknown"} {
			if err := harness.NewTyped(t, c, name, firn.TypedOptions[int, int]{}).Set(3, 7); err != nil {
				t.Fatal(err)
			}
		}
		harness.NewTyped(t, c, "left", firn.TypedOptions[int, int]{}).Set(3, 7)
		harness.Demote(t, c)
		synctest.Wait()
		faulty := vfstest.NewFaulty(mem.CrashClone(nil, vfstest.Kill))
		c = harness.OpenOn(t, faulty)
		held := faulty.Inject(vfstest.Rule{On: vfstest.OpAny, Name: "log", Block: true})
		begun := time.Now()
		for i, name := range []string{"known", "unknown", "new"} {
			typed := harness.NewTyped(t, c, name, firn.TypedOptions[int, int]{})
			if err := errors.Join(typed.Set(1, 1), typed.Clear(ctx), typed.Set(2, i)); err != nil {
				t.Error(err)
			}
			if v, ok := typed.Get(2); !ok || v != i {
				t.Errorf("%s: got %d, %v", name, v, ok)
			}
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		held.Remove()
		if v, err := harness.NewTyped(t, c, "left", firn.TypedOptions[int, int]{}).Lookup(t.Context(), 3); err != nil || v != 7 {
			t.Errorf("got %d, %v", v, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
