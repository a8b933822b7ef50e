package ram

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
)

// A cache whose segments are smaller than a page gives memory back as well, in
// whole pages, and none that has a record.
func TestShrinkingWithSmallSegments(t *testing.T) {
	t.Parallel()
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			t.Parallel()
			if page < os.Getpagesize() {
				t.Skipf("the system's pages have %d bytes", os.Getpagesize())
			}
			tier, err := New(Config{Bytes: 64 << 10, MaxBytes: 16 << 20, Seed: 2, Now: func() int64 { return 1 }, PageSize: page})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(tier.Free)
			rounds := 3
			if invariants.Race { // where bytes move by atomic words, and nothing is given back
				rounds = 1
			}
			for range rounds { // memory that came back is used again
				growAndShrink(t, tier)
				st := tier.Stats()
				touched := touchedPages(tier, page) * page
				t.Logf("%d bytes resident, by Stats %d", touched, st.Resident)
				if offheap.Growable && touched > 32*page { // a few segments each
					t.Errorf("%d bytes of segments in memory after shrinking to %d", touched, st.Budget)
				}
				if most := st.Budget + int64(32*page); st.Resident > most {
					t.Errorf("Stats tell of %d bytes in memory: want at most %d", st.Resident, most)
				}
				if err := tier.Check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func growAndShrink(t *testing.T, tier *Tier) {
	t.Helper()
	if err := tier.SetBytes(16 << 20); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 500)
	for i := range value {
		value[i] = 1
	}
	var key [8]byte
	n := uint64(32_000)
	if invariants.Race {
		n = 3000
	}
	for i := range n {
		binary.LittleEndian.PutUint64(key[:], i)
		if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := tier.SetBytes(max(64<<10, tier.minBytes())); err != nil {
		t.Fatal(err)
	}
	for k, v := range tier.All {
		if string(v) != string(value) {
			t.Fatalf("the value of key %x has changed", k)
		}
	}
}

// touchedPages is how many pages of segments hold something.
func touchedPages(tier *Tier, page int) (n int) {
	for at := 0; at < int(tier.ghostAt); at += page {
		for _, b := range tier.region.Bytes(uint64(at), page) {
			if b != 0 {
				n++
				break
			}
		}
	}
	return n
}
