package bytes

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// Curves are asked for while everything else goes on, and after the cache is closed.
func TestCurveBesideAll(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 8 << 20})
	var work sync.WaitGroup
	for worker := range uint64(3) {
		work.Go(func() {
			random := rand.New(rand.NewPCG(worker, 1))
			key, value, batch := make([]byte, 8), make([]byte, 200), firn.Batch{}
			for i := range 20_000 {
				binary.LittleEndian.PutUint64(key, random.Uint64N(50_000))
				switch random.IntN(16) {
				case 0:
					_ = c.Delete(key)
				case 1:
					c.GetMulti(t.Context(), &batch, [][]byte{key, key[:4]})
				default:
					if _, ok := c.Get(nil, key); !ok {
						_ = c.Set(key, value)
					}
				}
				if i == 15_000 && worker == 0 {
					_ = c.Clear(t.Context())
				}
			}
		})
	}
	for i := range 200 {
		checkCurve(t, c.Curve())
		if i%50 == 49 {
			if err := c.SetRAMBytes(int64(8-i/50) << 20); err != nil {
				t.Error(err)
			}
		}
	}
	work.Go(func() { _ = c.Close() })
	checkCurve(t, c.Curve())
	work.Wait()
	checkCurve(t, c.Curve())
}
