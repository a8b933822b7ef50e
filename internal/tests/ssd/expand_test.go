package ssd

import (
	"bytes"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A value that is short on the SSD, and longer than the RAM that the cache was
// opened with, was stored while there was more, and is found.
func TestCompressedValueLongerThanRAM(t *testing.T) {
	t.Parallel()
	fs := vfstest.NewMem()
	open := func() *firn.Cache {
		return harness.OpenSmall(t, func(o *firn.Options) {
			o.MaxRAMBytes = 32 << 20
			o.SSD = harness.With(harness.On(firn.SSDOptions{Bytes: 64 << 20, Admission: firn.AdmitAll, Compress: true}, fs), harness.Patiently)
		})
	}
	c := open()
	if err := c.SetRAMBytes(32 << 20); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 2<<20)
	if err := c.Set([]byte("k"), want); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open()
	if v, err := c.Lookup(t.Context(), nil, []byte("k")); err != nil || !bytes.Equal(v, want) {
		t.Errorf("%d bytes, %v; want %d", len(v), err, len(want))
	}
	if n := c.Stats().SSD.Corrupt; n != 0 {
		t.Errorf("%d records were corrupt", n)
	}
}
