package typed

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/codec"
)

type (
	small    int16
	name     string
	pair     [2]byte
	octet    byte
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
	const here = "github.com/firncache/firn/internal/typed."
	numbers := checkKeys[small](t, nil, "number/2 "+here+"small", true, -2, "\xfe\xff")
	checkKeys[uint64](t, nil, "number/8", true, 1, "\x01\x00\x00\x00\x00\x00\x00\x00")
	checkKeys[int64](t, nil, "number/8", true, 1, "\x01\x00\x00\x00\x00\x00\x00\x00")
	checkKeys[name](t, nil, "string "+here+"name", true, "k", "k")
	checkKeys(t, nil, "string", true, "k", "k")
	arrays := checkKeys(t, nil, "array/2 "+here+"pair", true, pair{1, 2}, "\x01\x02")
	checkKeys(t, nil, "array/2", true, [2]byte{1, 2}, "\x01\x02")
	checkKeys(t, nil, "array/1 [1]"+here+"octet", true, [1]octet{1}, "\x01")
	checkKeys(t, nil, "parts bool = bool", true, true, "\x01")
	checkKeys(t, nil, "binary net/netip.Addr", false, netip.AddrFrom4([4]byte{10, 0, 0, 1}), "\x0a\x00\x00\x01")
	checkKeys(t, codec.JSON[bool](), "codec json/1", false, true, "true")
	checkKeys(t, codec.JSON[name](), "codec json/1 "+here+"name", false, "k", `"k"`)
	oneWay := checkKeys(t, nil, "binary "+here+"writable", false, writable{'w'}, "w")

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

// A method of its own comes before the parts, that of an embedded field does not:
// it would leave the others out.
func TestKeysOfEmbedded(t *testing.T) {
	type tagged struct {
		writable
		Tag byte
	}
	checkKeys(t, nil, "parts "+layout(reflect.TypeFor[tagged]()), true, tagged{writable{'w'}, 't'}, "wt")
}

func TestNewKeysRefuses(t *testing.T) {
	refuses := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"keys of type interface {}: want numbers, bools, strings, ": refuses(NewKeys[any](nil)),
		"keys of type *int: want numbers, ":                         refuses(NewKeys[*int](nil)),
		"TypedOptions.KeyCodec":                                     refuses(NewKeys[chan int](nil)),
		"field Owner.Next is of kind ptr: want ":                    refuses(NewKeys[struct{ Owner struct{ Next *int } }](nil)),
		"field Ends[0].Any is of kind interface: ":                  refuses(NewKeys[struct{ Ends [2]struct{ Any any } }](nil)),
		"field Done is of kind chan: ":                              refuses(NewKeys[struct{ Done chan int }](nil)),
		"embedded netip.Addr": refuses(NewKeys[struct {
			netip.Addr
			Port uint16
		}](nil)),
		"the key is an array of 8388608 bytes: want at most 65536": refuses(NewKeys[[1 << 20]int64](nil)),
		"field Flags is an array of 65537 bytes: ":                 refuses(NewKeys[struct{ Flags [1<<16 + 1]bool }](nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}
