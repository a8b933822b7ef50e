package firn_test

import (
	"bytes"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
)

// A value that is short on the SSD, and longer than the RAM that the cache was
// opened with, was stored while there was more, and is found.
func TestCompressedValueLongerThanRAM(t *testing.T) {
	t.Parallel()
	fs := vfstest.NewMem()
	open := func() *firn.Cache {
		return openSmall(t, func(o *firn.Options) {
			o.MaxRAMBytes = 32 << 20
			o.SSD = firn.SSDOptions{Bytes: 64 << 20, Admission: firn.AdmitAll, Compress: true}.On(fs).With(patiently)
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
