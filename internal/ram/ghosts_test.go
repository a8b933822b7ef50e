package ram

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// When eviction begins, the shards get their ghosts without a byte more than the
// budget, and no record that was read often has to go for them.
func TestGhostsFitTheBudget(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{64 << 10, 300_000, 2 << 20} {
		for _, size := range []int{8, 300} {
			t.Run(fmt.Sprintf("%d/%d", bytes, size), func(t *testing.T) {
				t.Parallel()
				ghostsFit(t, bytes, size)
			})
		}
	}
}

func ghostsFit(t *testing.T, bytes int64, size int) {
	now, low := int64(1000), newLower()
	tier := newOverLower(t, bytes, low, &now)
	low.admit = func() bool { return false }
	most := int64(0) // in use while records leave
	low.seen = func(uint64, []byte, bool) {
		tier.pool.Lock()
		defer tier.pool.Unlock()
		most = max(most, tier.overhead.Load()+int64(tier.pool.Used)*tier.segmentCost())
	}
	var key [8]byte
	value, popular := make([]byte, size), uint64(0)
	set := func(i uint64) {
		binary.LittleEndian.PutUint64(key[:], i)
		if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
	}
	i := uint64(0)
	for ; tier.Stats().Used < bytes*9/10; i++ {
		if set(i); i%10 == 0 {
			for range 5 {
				tier.Get(nil, key[:])
			}
			popular = i
		}
	}
	full := uint64(0)
	for end := i + uint64(bytes/8)/uint64(size+24); i < end; i++ {
		set(i)
		st := tier.Stats()
		if most = max(most, st.Used); most > bytes {
			t.Fatalf("record %d: %d of %d bytes were in use", i, most, bytes)
		}
		if full == 0 && st.Evicted > 0 {
			full = i
			if st.Used < bytes-2*int64(len(tier.shards))*tier.segmentCost()-bytes/32 {
				t.Errorf("the first record left when %d of %d bytes were in use", st.Used, bytes)
			}
		}
	}
	if full == 0 {
		t.Fatal("nothing was evicted")
	}
	lost := 0
	for j := uint64(0); j <= popular; j += 10 {
		binary.LittleEndian.PutUint64(key[:], j)
		if _, ok := tier.Get(nil, key[:]); !ok {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d records left that were read often", lost, popular/10+1)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}
