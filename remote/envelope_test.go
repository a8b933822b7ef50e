package remote

import (
	"bytes"
	"testing"
)

func TestEnvelopeBytes(t *testing.T) {
	h := header{flags: flagNegative, version: 0x0807060504030201, deadline: 0x060504030201, expiry: 0x0c0b0a090807}
	got := appendEnvelope([]byte("before"), h, []byte("value"))
	want := append([]byte("before"), "fr\x01\x02\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x05\x00\x00\x00\xc4\x64\xb3\x08value"...)
	if !bytes.Equal(got, want) {
		t.Fatalf("%q\nwant\n%q", got, want)
	}
	back, value, ok := openEnvelope(got[6:])
	h.length, h.crc = 5, back.crc
	if !ok || back != h || string(value) != "value" {
		t.Fatalf("%+v, %q, %v: want %+v", back, value, ok, h)
	}
}

// Any byte that is another one is noticed.
func TestEnvelopeDamaged(t *testing.T) {
	whole := appendEnvelope(nil, header{version: 7, deadline: 1000}, []byte("a value"))
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		if _, _, ok := openEnvelope(b); ok {
			t.Errorf("byte %d is another: want it noticed", i)
		}
	}
	for n := range whole {
		if _, _, ok := openEnvelope(whole[:n]); ok {
			t.Errorf("%d bytes of %d: want it noticed", n, len(whole))
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte("foreign"))
	f.Add(appendEnvelope(nil, header{version: 1}, nil))
	f.Add(appendEnvelope(nil, header{version: 1, flags: flagS2}, []byte("no S2")))
	f.Add(markerEnvelope(flagLease, 9))
	t := newTier(Options{Addrs: []string{"none"}, Namespace: "n", MaxValueBytes: 1 << 16})
	f.Fuzz(func(tt *testing.T, b []byte) {
		h, value, ok := openEnvelope(b)
		if !ok {
			return
		}
		if again := appendEnvelope(nil, h, value); !bytes.Equal(again, b) {
			tt.Fatalf("%q is written as %q", b, again)
		}
		if out, err := t.unpack([]byte("dst"), h, value); !bytes.HasPrefix(out, []byte("dst")) || err == nil && len(out) > 3+max(len(value), 1<<16) {
			tt.Fatalf("%d bytes of %d", len(out), len(value))
		}
	})
}
