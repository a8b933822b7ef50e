package entry

import (
	"bytes"
	"testing"
)

func TestEnvelopeBytes(t *testing.T) {
	h := Header{Flags: FlagNegative, Version: 0x0807060504030201, Deadline: 0x060504030201, Expiry: 0x0c0b0a090807}
	got := Append([]byte("before"), h, []byte("value"))
	want := append([]byte("before"), "fr\x01\x02\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x05\x00\x00\x00\xc4\x64\xb3\x08value"...)
	if !bytes.Equal(got, want) {
		t.Fatalf("%q\nwant\n%q", got, want)
	}
	back, value, ok := Open(got[6:])
	h.Length, h.CRC = 5, back.CRC
	if !ok || back != h || string(value) != "value" {
		t.Fatalf("%+v, %q, %v: want %+v", back, value, ok, h)
	}
}

// Any byte that is another one is noticed.
func TestEnvelopeDamaged(t *testing.T) {
	whole := Append(nil, Header{Version: 7, Deadline: 1000}, []byte("a value"))
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		if _, _, ok := Open(b); ok {
			t.Errorf("byte %d is another: want it noticed", i)
		}
	}
	for n := range whole {
		if _, _, ok := Open(whole[:n]); ok {
			t.Errorf("%d bytes of %d: want it noticed", n, len(whole))
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte("foreign"))
	f.Add(Append(nil, Header{Version: 1}, nil))
	f.Add(Append(nil, Header{Version: 1, Flags: FlagS2}, []byte("no S2")))
	f.Add(Marker(FlagLease, 9))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, value, ok := Open(b)
		if !ok {
			return
		}
		if again := Append(nil, h, value); !bytes.Equal(again, b) {
			t.Fatalf("%q is written as %q", b, again)
		}
	})
}
