package ram

import (
	"errors"
	"testing"

	"github.com/firncache/firn/internal/offheap"
)

// Where the system gives no more address space than the budget takes, as under
// vm.overcommit_memory=2 or ulimit -v, a tier that nobody asked to grow is made all
// the same, and cannot grow. One that is asked to fails.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	const bytes = 1 << 20
	full := errors.New("cannot allocate memory")
	least := uint64(geometryFor(bytes, bytes).maxSegments+8) << geometryFor(bytes, bytes).segShift * 11 / 10
	cfg := Config{Bytes: bytes, Seed: 1, ReserveRegion: func(size uint64) (*offheap.Region, error) {
		if size > least {
			return nil, full
		}
		return offheap.Reserve(size)
	}}
	tier, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	fill(t, tier, 5000, 300)
	if st := tier.Stats(); st.Used > bytes || st.Used < bytes*9/10 {
		t.Errorf("%d of %d bytes are in use", st.Used, bytes)
	}
	if _, most := tier.Bounds(); most < bytes || most > bytes*11/10 {
		t.Errorf("it can grow to %d bytes", most)
	}
	if err := tier.SetBytes(2 * bytes); err == nil {
		t.Error("it grew")
	}
	cfg.MaxBytes = 4 * bytes
	if _, err := New(cfg); !errors.Is(err, ErrAddressSpace) || !errors.Is(err, full) {
		t.Errorf("asked to grow to %d bytes: %v", cfg.MaxBytes, err)
	}
	least = 1000
	cfg.MaxBytes = 0
	if _, err := New(cfg); !errors.Is(err, ErrAddressSpace) {
		t.Errorf("without address space: %v", err)
	}
}
