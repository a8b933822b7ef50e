package lincheck

import (
	"context"
	"log/slog"
	"testing"

	"github.com/firncache/firn"
)

// batches is a cache whose gets are batches of one.
type batches struct{ *firn.Cache }

func (b batches) Get(dst, key []byte) ([]byte, bool) {
	var batch firn.Batch
	b.GetMulti(context.Background(), &batch, [][]byte{key})
	v, ok := batch.Value(0)
	return append(dst, v...), ok
}

// With an SSD tier below so little RAM that values move up and down all the time.
// The cache is closed and opened between histories.
func TestLinearizableWithSSD(t *testing.T) {
	rounds := rounds / 4
	if testing.Short() {
		rounds = 3
	}
	var hits, promotions uint64
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for seed := range uint64(rounds) {
				c, err := firn.Open(firn.Options{RAMBytes: firn.MinRAMBytesWithSSD, SSD: firn.SSDOptions{
					Dir: dir, Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				for key := range 3 { // what an earlier history left
					if _, err := do(c, call{op: del, key: key}, 0); err != nil {
						t.Fatal(err)
					}
				}
				w := workload{keys: 3, clients: 6, calls: 60, filler: 6, sizes: size}
				var under cache = c
				if seed%2 == 1 {
					under = batches{c}
				}
				if !check(t, moving, w.run(t, under, seed)) {
					t.Fatalf("seed %d: not linearizable", seed)
				}
				s := c.Stats()
				hits, promotions = hits+s.SSD.Hits, promotions+s.SSD.Promotions
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Logf("%d hits of the SSD tier, %d promotions", hits, promotions)
	if hits == 0 || promotions == 0 {
		t.Error("nothing moved")
	}
}
