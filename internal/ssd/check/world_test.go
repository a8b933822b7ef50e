package check

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/ssd/format"
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
	noError(t, tier.Start(func(int64) error { return nil }))
	d.tier, d.hasher = tier, record.NewHasher(tier.Seed())
	tier.Registry().Clear(registry.IDOf(registry.Namespace, "n"))
}

// steps takes so many random steps with so many keys.
func (d *driver) steps(n, keys int) {
	for range n {
		key := fmt.Appendf(nil, "key-%06d", d.rng.IntN(keys))
		hash := d.hasher.Hash(key)
		switch d.rng.IntN(10) {
		case 0:
			d.tier.Invalidate(hash)
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
			_, _ = d.tier.WaitForRoom(0)
			d.tier.Invalidate(hash)
			d.tier.Demote(hash, key, value, deadline, true, record.SameCopy)
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
	noError(t, d.tier.Close(context.Background()))
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

// verify returns what Verify finds.
func verify(t testing.TB, fs vfs.FS) (Verified, []Problem) {
	t.Helper()
	var problems []Problem
	v, err := Verify(context.Background(), fs, func(p Problem) { problems = append(problems, p) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v, problems
}

func inspect(t testing.TB, fs vfs.FS) *Inspection {
	t.Helper()
	in, err := Inspect(context.Background(), fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(in); err != nil {
		t.Error(err)
	}
	return in
}

// counted is how many ids, of one in 1<<shift, the lists have.
func counted(t *testing.T, fs vfs.FS, shift int) int64 {
	t.Helper()
	o := &offline{fs: fs, step: func(int64) {}, report: func(p Problem) { t.Error(p) }}
	noError(t, errors.Join(o.readSuperblock(), o.openLog()))
	live, err := new(Inspection).segments(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	l := liveCounter{offline: o, mask: format.ID(1)<<shift - 1, seen: map[format.ID]bool{}}
	for _, e := range live {
		l.segment(e)
	}
	noError(t, o.close())
	return l.records
}

// edit changes bytes of a file.
func edit(t testing.TB, fs *vfstest.Mem, name string, off int64, change func(b []byte), n int) {
	t.Helper()
	b, err := fs.Bytes(name)
	noError(t, err)
	change(b[off:][:n])
	noError(t, fs.SetBytes(name, b))
}

func truncate(t testing.TB, fs *vfstest.Mem, name string, n int64) {
	t.Helper()
	b, err := fs.Bytes(name)
	noError(t, err)
	noError(t, fs.SetBytes(name, b[:n]))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, fs vfs.FS, name string) {
	t.Helper()
	noError(t, fs.Remove(name))
}

func flip(b []byte) { b[len(b)-1] ^= 0x10 }

// namedBySnapshot are those of the segments that the snapshot names: the others have
// been reclaimed.
func namedBySnapshot(t testing.TB, fs vfs.FS, in *Inspection) (named []Segment) {
	t.Helper()
	o := &offline{fs: fs, step: func(int64) {}, report: func(p Problem) { t.Error(p) }}
	noError(t, o.readSuperblock())
	s, err := o.openSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.file.Close() }()
	for _, g := range in.Segments {
		if (s.Slots[g.Slot].Serial == g.Serial) != (g.State != "freed") {
			t.Errorf("slot %d: the snapshot has segment %d: %+v", g.Slot, s.Slots[g.Slot].Serial, g)
		}
		if s.Slots[g.Slot].Serial == g.Serial {
			named = append(named, g)
		}
	}
	if len(named) == 0 {
		t.Fatal("the snapshot names no segment")
	}
	return named
}
