package ssd

import (
	"fmt"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
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
	s := &harness.Stress{Bytes: 2 << 20, Registers: harness.NewRegisters(keys)}
	var hits, moved uint64
	for range lives {
		var err error
		s.C, err = firn.Open(firn.Options{RAMBytes: 2 << 20, MaxRAMBytes: 8 << 20,
			SSD: harness.On(firn.SSDOptions{Bytes: 8 << 20, SegmentBytes: 128 << 10, Admission: firn.AdmitAll}, fs)})
		if err != nil {
			t.Fatal(err)
		}
		s.CheckQuiet(t)
		if err := s.Run(thousands, thousands); err != nil {
			t.Fatal(err)
		}
		if err := harness.CheckInvariants(s.C); err != nil {
			t.Error(err)
		}
		s.CheckQuiet(t)
		stats := s.C.Stats()
		hits, moved = hits+stats.SSD.Hits, moved+stats.SSD.Promotions
		if err := s.C.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if keys > 30 && (hits == 0 || moved == 0) {
		t.Errorf("%d hits of the SSD tier, %d promotions: want both", hits, moved)
	}
}

// Row 32: Close comes while the cache is used; what is there after opening again
// is not older than what was acknowledged, and what is written after Close fails.
func TestFault32CloseUnderLoadSSD(t *testing.T) {
	t.Parallel()
	const rounds = 3
	fs := vfstest.NewMem()
	s := &harness.Stress{Registers: harness.NewRegisters(200)}
	for range rounds {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20,
			SSD: harness.On(firn.SSDOptions{Bytes: 4 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, fs)})
		if err != nil {
			t.Fatal(err)
		}
		s.C = c
		s.CheckQuiet(t)
		closeUnderLoad(t, s)
	}
}
