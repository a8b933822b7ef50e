package ssd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// thumbnail is the value of a key, of 30 KiB to 1 MiB.
func thumbnail(i, version int) (key, value []byte) {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(version)))
	value = make([]byte, 30<<10+rng.IntN(994<<10))
	for at := 0; at+8 <= len(value); at += 8 {
		binary.LittleEndian.PutUint64(value[at:], rng.Uint64())
	}
	return fmt.Appendf(nil, "thumbnail-%d", i), value
}

func longOptions(fs vfs.FS) firn.Options {
	return firn.Options{RAMBytes: 8 << 20, Clock: time.Now, SSD: harness.With(harness.On(firn.SSDOptions{Bytes: 256 << 20, Admission: firn.AdmitAll}, fs), harness.Patiently)}
}

func countLongMissing(t *testing.T, c *firn.Cache, n, version int) (missing int) {
	t.Helper()
	for i := range n {
		key, value := thumbnail(i, version)
		got, ok := c.Get(nil, key)
		if !ok {
			missing++
		} else if !bytes.Equal(got, value) {
			t.Fatalf("the value of %s is wrong", key)
		}
	}
	return missing
}

// Values that are longer than a segment of the SSD's log go there like others, and
// are there after Close and Open.
func TestLongValuesReachTheSSD(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		c, err := firn.Open(longOptions(fs))
		if err != nil {
			t.Fatal(err)
		}
		n := 100
		if invariants.Race { // where bytes move by atomic words
			n = 30
		}
		for i := range n {
			key, value := thumbnail(i, 0)
			harness.Set(t, c, key, value)
		}
		if missing := countLongMissing(t, c, n, 0); missing > 0 {
			t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
		}
		if st := c.Stats(); st.SSD.TooLarge > 0 || st.SSD.Hits < uint64(n/2) {
			t.Fatalf("too large %d, hits %d", st.SSD.TooLarge, st.SSD.Hits)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if c, err = firn.Open(longOptions(fs)); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if missing := countLongMissing(t, c, n, 0); missing > 0 {
			t.Fatalf("%d of %d are missing after Close and Open: %+v", missing, n, c.Stats())
		}
	})
}
