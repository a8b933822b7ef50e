package firn_test

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
)

// Row 35, and 25 to 27: what TestStress does with RAM alone, over an SSD tier and
// with so little RAM that everything moves up and down; closed while it is used,
// and opened again: nothing that is found is older than what was acknowledged.
func TestFault35StressSSD(t *testing.T) {
	thousands, lives := 6, 3
	if invariants.Race {
		thousands, lives = 1, 2
	}
	for _, keys := range []int{30, 600} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			stressSSD(t, keys, thousands, lives)
		})
	}
}

func stressSSD(t *testing.T, keys, thousands, lives int) {
	fs := vfstest.NewMem()
	s := &stress{bytes: 2 << 20, registers: newRegisters(keys)}
	var hits, moved uint64
	for range lives {
		var err error
		s.c, err = firn.Open(firn.Options{RAMBytes: 2 << 20, MaxRAMBytes: 8 << 20,
			SSD: firn.SSDOptions{Bytes: 8 << 20, SegmentBytes: 128 << 10, Admission: firn.AdmitAll}.On(fs)})
		if err != nil {
			t.Fatal(err)
		}
		s.checkQuiet(t)
		if err := s.run(thousands, thousands); err != nil {
			t.Fatal(err)
		}
		if err := s.c.CheckInvariants(); err != nil {
			t.Error(err)
		}
		s.checkQuiet(t)
		stats := s.c.Stats()
		hits, moved = hits+stats.SSD.Hits, moved+stats.SSD.Promotions
		if err := s.c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if keys > 30 && (hits == 0 || moved == 0) {
		t.Errorf("%d hits of the SSD tier, %d promotions: want both", hits, moved)
	}
}

// checkQuiet reads every key when nobody writes.
func (s *stress) checkQuiet(t *testing.T) {
	t.Helper()
	for _, r := range s.registers {
		if v, ok := s.c.Get(nil, r.Key); ok {
			if err := r.CheckRead(r.Acked(), v); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Row 32: Close comes while the cache is used; what is there after opening again
// is not older than what was acknowledged, and what is written after Close fails.
func TestFault32CloseUnderLoadSSD(t *testing.T) {
	t.Parallel()
	const rounds = 3
	fs := vfstest.NewMem()
	s := &stress{registers: newRegisters(200)}
	for range rounds {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20,
			SSD: firn.SSDOptions{Bytes: 4 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}.On(fs)})
		if err != nil {
			t.Fatal(err)
		}
		s.c = c
		s.checkQuiet(t)
		closeUnderLoad(t, s)
	}
}
