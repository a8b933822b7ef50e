package check

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

var long = flag.Bool("long", false, "more seeds, lives and flipped bits")

// sized is how much of something a test does: usual, or with -long all of it.
func sized(usual, all int) int {
	if *long {
		return all
	}
	return usual
}

// bubble runs a test in a bubble of its own.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// driver writes to tiers at random, one after the other.
type driver struct {
	rng    *rand.Rand
	now    atomic.Int64
	tier   *ssd.Tier
	hasher record.Hasher
}

func newDriver(seed uint64) *driver {
	d := &driver{rng: rand.New(rand.NewPCG(seed, 1))}
	d.now.Store(1_000_000)
	return d
}

// open opens a tier over what the files hold.
func (d *driver) open(t testing.TB, fs vfs.FS) {
	t.Helper()
	tier, err := ssd.Open(ssd.Config{
		FS: fs, Bytes: 2 << 20, SegmentBytes: 64 << 10, Memory: 1 << 20, Admission: ssd.AdmitAll,
		Now: d.now.Load, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		BootID: func() string { return "boot" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tier.Start(func(int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	d.tier, d.hasher = tier, record.NewHasher(tier.Seed())
}

// steps takes so many random steps with so many keys.
func (d *driver) steps(n, keys int) {
	for range n {
		key := fmt.Appendf(nil, "key-%06d", d.rng.IntN(keys))
		hash := d.hasher.Hash(key)
		switch d.rng.IntN(10) {
		case 0:
			d.tier.Superseded(hash)
		case 1:
			d.now.Add(d.rng.Int64N(20))
		case 2:
			_, _ = d.tier.Get(context.Background(), nil, key, hash)
		default:
			deadline := int64(0)
			if d.rng.IntN(4) == 0 {
				deadline = d.now.Load() + 1 + d.rng.Int64N(1000)
			}
			value := make([]byte, 16+d.rng.IntN(3000))
			for i := range value {
				value[i] = byte(d.rng.Uint32())
			}
			_, _ = d.tier.Ready(0)
			d.tier.Superseded(hash)
			d.tier.Demote(hash, key, value, deadline, true, true)
		}
	}
}

// written lets the tier write what it has, and make room where there is none.
func (d *driver) written() {
	time.Sleep(3 * time.Second) // of the bubble
	synctest.Wait()
}

func (d *driver) close(t testing.TB) {
	t.Helper()
	if err := d.tier.Close(); err != nil {
		t.Fatal(err)
	}
	d.tier.Free()
}

// worn is the files of a tier whose log has turned some times, closed or killed, and
// how many records the tier had then.
func worn(t testing.TB, seed uint64, kill bool) (files *vfstest.Mem, records int64) {
	t.Helper()
	d, fs := newDriver(seed), vfstest.NewMem()
	d.open(t, fs)
	d.steps(6000, 1200)
	d.written()
	records = int64(d.tier.Len())
	clone := fs.CrashClone(d.rng, vfstest.Kill)
	d.close(t)
	if kill {
		return clone, records
	}
	return fs, records
}
