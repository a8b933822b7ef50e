package remote

import (
	"bytes"
	"testing"

	"github.com/firncache/firn/remote/internal/entry"
)

// Whatever lies on the server is unpacked behind what there is, and not beyond the longest value.
func FuzzUnpack(f *testing.F) {
	f.Add(true, []byte("no S2"))
	f.Add(false, []byte("a value"))
	const longest = 1 << 16
	t := newTier(Options{Addrs: []string{"none"}, Namespace: "n", MaxValueBytes: longest})
	f.Fuzz(func(tt *testing.T, packed bool, value []byte) {
		h := entry.Header{}
		if packed {
			h.Flags = entry.FlagS2
		}
		if out, err := t.unpack([]byte("dst"), h, value); !bytes.HasPrefix(out, []byte("dst")) || err == nil && len(out) > 3+max(len(value), longest) {
			tt.Fatalf("%d bytes of %d", len(out), len(value))
		}
	})
}
