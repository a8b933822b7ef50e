package typed

import (
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What a namespace had cleared stays cleared when its process dies, and what it
// had written to the SSD since is found. TestTypedSurvivesKill, in the module
// stress, kills one.
func TestTypedSurvivesCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 3000
		fs := vfstest.NewMem()
		c := harness.HybridOn(t, fs)
		users := harness.NewTyped(t, c, "n", firn.TypedOptions[int, []byte]{})
		fill := func(first int) {
			for i := range n {
				if err := users.Set(first+i, make([]byte, 500)); err != nil {
					t.Fatal(err)
				}
				if i%20 == 0 {
					synctest.Wait()
				}
			}
		}
		fill(0)
		if err := users.Clear(ctx); err != nil {
			t.Fatal(err)
		}
		fill(n)
		dead := fs.CrashClone(nil, vfstest.Kill)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}

		c = harness.HybridOn(t, dead)
		defer c.Close()
		users = harness.NewTyped(t, c, "n", firn.TypedOptions[int, []byte]{})
		found := 0
		for i := range n {
			if users.Has(i) {
				t.Fatalf("entry %d, which was cleared, is back", i)
			}
			if users.Has(n + i) {
				found++
			}
		}
		if found < n/10 {
			t.Errorf("%d of %d values set since are found, want those on the SSD: %+v", found, n, c.Stats())
		}
	})
}
