package typed

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/codec"
)

type (
	small    int16
	name     string
	pair     [2]byte
	writable struct{ n byte } // has no way back
)

func (w writable) AppendBinary(dst []byte) ([]byte, error) { return append(dst, w.n), nil }

// checkKeys looks at the name of a kind of keys, and at what becomes of a key.
func checkKeys[K comparable](t *testing.T, c codec.Codec[K], wantName string, exact bool, key K, wantBytes string) Keys[K] {
	t.Helper()
	keys, err := NewKeys(c)
	if err != nil {
		t.Fatal(err)
	}
	if keys.Name() != wantName || keys.Exact() != exact {
		t.Errorf("keys of type %T: %q, exact %v: want %q, %v", key, keys.Name(), keys.Exact(), wantName, exact)
	}
	got, err := keys.Append([]byte("before "), &key)
	if err != nil || string(got) != "before "+wantBytes {
		t.Errorf("Append of %v: %q, %v, want %q", key, got, err, wantBytes)
	}
	if back, err := keys.Parse([]byte(wantBytes)); err == nil && back != key {
		t.Errorf("Parse of %q: %v, want %v", wantBytes, back, key)
	} else if exact && err != nil {
		t.Errorf("Parse of %q: %v", wantBytes, err)
	}
	return keys
}

func TestKeys(t *testing.T) {
	numbers := checkKeys[small](t, nil, "number/2", true, -2, "\xfe\xff")
	checkKeys[uint64](t, nil, "number/8", true, 1, "\x01\x00\x00\x00\x00\x00\x00\x00")
	checkKeys[name](t, nil, "string", true, "k", "k")
	arrays := checkKeys(t, nil, "array/2", true, pair{1, 2}, "\x01\x02")
	checkKeys(t, nil, "binary net/netip.Addr", false, netip.AddrFrom4([4]byte{10, 0, 0, 1}), "\x0a\x00\x00\x01")
	checkKeys(t, codec.JSON[bool](), "codec json/1", false, true, "true")
	oneWay := checkKeys(t, nil, "binary github.com/firncache/firn/internal/typed.writable", false, writable{'w'}, "w")

	for _, refused := range []func() error{
		func() error { _, err := numbers.Parse([]byte("\x01")); return err },
		func() error { _, err := arrays.Parse([]byte("\x01\x02\x03")); return err },
		func() error { _, err := oneWay.Parse([]byte("w")); return err },
	} {
		if refused() == nil {
			t.Error("bytes of no key were parsed")
		}
	}
}

func TestNewKeysRefuses(t *testing.T) {
	_, errOfFloat := NewKeys[float64](nil)
	_, errOfAny := NewKeys[any](nil)
	_, errOfPromoted := NewKeys[struct {
		netip.Addr
		Port uint16
	}](nil)
	for want, err := range map[string]error{
		"float64":               errOfFloat,
		"interface {}":          errOfAny,
		"embedded netip.Addr":   errOfPromoted,
		"TypedOptions.KeyCodec": errOfFloat,
		"an array of bytes, a":  errOfAny,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}
