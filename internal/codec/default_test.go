package codec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/codec"
)

type (
	celsius float64
	userID  int32
	label   string
	blob    []byte
	digest  [20]byte
	flag    bool
	wave    complex64
)

type user struct {
	ID      userID
	Name    string
	Born    time.Time
	Tags    []string `json:"tags,omitempty"`
	Friends map[string]*user
	Raw     json.RawMessage
}

// coordinates marshals itself, with a method of the pointer.
type coordinates struct{ lat, lon int8 }

func (c *coordinates) MarshalBinary() ([]byte, error) { return []byte{byte(c.lat), byte(c.lon)}, nil }

func (c *coordinates) UnmarshalBinary(b []byte) error {
	if len(b) != 2 {
		return errNotTwo
	}
	c.lat, c.lon = int8(b[0]), int8(b[1])
	return nil
}

var errNotTwo = hex.InvalidByteError(2)

func defaultOf[V any](t *testing.T) codec.Codec[V] {
	t.Helper()
	c, err := codec.Default[V]()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkCodec holds the Default of a type against its contract.
func checkCodec[V any](t *testing.T, values ...V) {
	t.Helper()
	c := defaultOf[V](t)
	name := c.Name()
	for _, v := range values {
		dst, err := c.Append([]byte("before "), v)
		if err != nil {
			t.Errorf("%s of %v: %v", name, v, err)
			continue
		}
		if !strings.HasPrefix(string(dst), "before ") {
			t.Errorf("%s of %v: Append gave %q: want what was in dst first", name, v, dst)
			continue
		}
		src := dst[len("before "):]
		got, err := c.Decode(src)
		if err != nil {
			t.Errorf("%s of %v: %v", name, v, err)
		}
		for i := range src { // the value must not share memory with src
			src[i] ^= 0xff
		}
		if !reflect.DeepEqual(got, v) {
			t.Errorf("%s: got %#v, want %#v", name, got, v)
		}
		if rest, err := c.Append(nil, v); err == nil && len(rest) > 0 {
			if _, err := c.Decode(append(rest, "garbage"...)); err == nil && !takesAnything(name) {
				t.Errorf("%s of %v: decodes with garbage at its end", name, v)
			}
		}
	}
}

// takesAnything is true of codecs that cannot tell garbage behind a value.
func takesAnything(name string) bool {
	return name == "string/1" || name == "bytes/1" || name == "binary/1"
}

func TestDefaults(t *testing.T) {
	checkCodec(t, "", "snow", strings.Repeat("firn", 1000))
	checkCodec(t, label("ice"))
	checkCodec(t, []byte{}, []byte("bytes"))
	checkCodec(t, blob("named"))
	checkCodec(t, [0]byte{}, [0]byte{})
	checkCodec(t, digest{1, 2, 3})
	checkCodec(t, true, false)
	checkCodec(t, flag(true))
	checkCodec(t, int8(-1), math.MinInt8)
	checkCodec(t, int16(-2))
	checkCodec(t, userID(-3))
	checkCodec(t, math.MinInt64, -1, 0, 1, math.MaxInt64)
	checkCodec(t, uint64(math.MaxUint64))
	checkCodec(t, uintptr(7))
	checkCodec(t, float32(1.5))
	checkCodec(t, celsius(-273.15), celsius(math.Inf(1)))
	checkCodec(t, complex(1, -2))
	checkCodec(t, wave(complex(3, 4)))
	checkCodec(t, time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC))
	checkCodec(t, netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("10.0.0.1"))
	checkCodec(t, coordinates{-1, 1})
	checkCodec(t, &coordinates{2, 3})
	checkCodec(t, &url.URL{Scheme: "https", Host: "example.org", Path: "/<>"})
	checkCodec(t,
		user{ID: 7, Name: "Ötzi <a&b>", Born: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), Raw: json.RawMessage("[1]")},
		user{Tags: []string{"a"}, Friends: map[string]*user{"b": {ID: 8, Raw: json.RawMessage("null")}}, Raw: json.RawMessage("{}")})
	checkCodec(t, &user{ID: 9, Raw: json.RawMessage("null")}, nil)
	checkCodec(t, map[string]int{"a": 1})
	checkCodec(t, []string{"a", "b"}, nil)
}

func TestDefaultNames(t *testing.T) {
	for want, name := range map[string]func() (string, error){
		"string/1":  nameOf[label],
		"bytes/1":   nameOf[blob],
		"array/1":   nameOf[digest],
		"number/1":  nameOf[celsius],
		"bool/1":    nameOf[flag],
		"complex/1": nameOf[wave],
		"time/1":    nameOf[time.Time],
		"binary/1":  nameOf[coordinates],
	} {
		if got, err := name(); got != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func nameOf[V any]() (string, error) {
	c, err := codec.Default[V]()
	if err != nil {
		return "", err
	}
	return c.Name(), nil
}

// The seconds of a zone's offset come back, also west of UTC.
func TestTimeCodecOffsets(t *testing.T) {
	c := defaultOf[time.Time](t)
	for _, offset := range []int{-4*3600 - 56*60 - 2, -30, -59, 9*60 + 21, 3600, -3600} { // the first was New York's until 1883
		want := time.Date(1883, 1, 1, 0, 0, 0, 5, time.FixedZone("", offset))
		b, err := c.Append([]byte("before "), want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b[len("before "):])
		if _, there := got.Zone(); err != nil || there != offset || !got.Equal(want) {
			t.Errorf("%v with an offset of %d s: got %v, %d s, %v", want, offset, got, there, err)
		}
	}
}

// FuzzDefaults gives every decoder bytes of any kind: what it accepts, it
// must write and read again.
func FuzzDefaults(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("12345678"))
	f.Add([]byte("0123456789abcdef"))
	f.Add([]byte(`{"ID":7,"Name":"x","Born":"2026-01-01T00:00:00Z","tags":["a"],"Friends":{"b":null},"Raw":{}}`))
	f.Add([]byte("\x01\x00\x00\x00\x0e\xbb\x4b\x37\xe5\x00\x00\x00\x01\xff\xff"))
	f.Add([]byte("\x02E\x99\xe0*\xb1\xd3R\t<oj\x88\x9b\xa8\x10"))
	f.Fuzz(func(t *testing.T, src []byte) {
		fuzzCodec[string](t, src)
		fuzzCodec[blob](t, src)
		fuzzCodec[digest](t, src)
		fuzzCodec[celsius](t, src)
		fuzzCodec[int](t, src)
		fuzzCodec[flag](t, src)
		fuzzCodec[wave](t, src)
		fuzzCodec[time.Time](t, src)
		fuzzCodec[netip.Addr](t, src)
		fuzzCodec[*coordinates](t, src)
		fuzzCodec[user](t, src)
		fuzzCodec[kinds](t, src)
		fuzzCodec[odd](t, src)
		fuzzCodec[[]*chain](t, src)
		fuzzCodec[tree](t, src)
		fuzzCodec[map[float64][]*[2]string](t, src)
		fuzzCodec[[]struct{ _ int }](t, src)
		fuzzCodec[map[struct{}]struct{}](t, src)
		fuzzCodec[[]float32](t, src)
	})
}

func fuzzCodec[V any](t *testing.T, src []byte) {
	c, err := codec.Default[V]()
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(src)
	v, err := c.Decode(src)
	if !bytes.Equal(src, before) {
		t.Fatalf("%s: Decode changed its bytes", c.Name())
	}
	if err != nil {
		return
	}
	first, err := c.Append(nil, v)
	if err != nil {
		return // time.Time reads years that it does not write
	}
	again, err := c.Decode(first)
	if err != nil {
		t.Fatalf("%s of %#v: its own bytes %x: %v", c.Name(), v, first, err)
	}
	if second, err := c.Append(nil, again); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%s of %#v: %x, and once more %x, %v", c.Name(), v, first, second, err)
	}
}
