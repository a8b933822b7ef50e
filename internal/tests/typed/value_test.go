package typed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
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
		return errors.New("not two bytes")
	}
	c.lat, c.lon = int8(b[0]), int8(b[1])
	return nil
}

// checkValue stores a value behind an interface, and reads it as what it is.
func checkValue[T any](t *testing.T, c *firn.Cache, v T) {
	t.Helper()
	if err := firn.SetValue(c, "k", v); err != nil {
		t.Errorf("SetValue of %#v: %v", v, err)
		return
	}
	if got, ok := firn.GetValue[T](c, "k"); !ok || !reflect.DeepEqual(got, v) {
		t.Errorf("got %#v, %v, want %#v", got, ok, v)
	}
	// what is stored ends with what the type's codec writes, as with a Typed
	codec, err := firn.DefaultCodec[T]()
	if err != nil {
		t.Fatal(err)
	}
	want, err := codec.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	for k, stored := range c.All() {
		if strings.HasSuffix(string(k), "k") && !bytes.HasSuffix(stored, want) {
			t.Errorf("%#v: SetValue wrote %q, its codec %q", v, stored, want)
		}
	}
	c.Clear()
}

func TestValues(t *testing.T) {
	c := harness.OpenSmall(t)
	checkValue(t, c, "text")
	checkValue(t, c, label("named"))
	checkValue(t, c, []byte("bytes"))
	checkValue(t, c, blob("named"))
	checkValue(t, c, digest{1, 2})
	checkValue(t, c, true)
	checkValue(t, c, flag(false))
	checkValue(t, c, int8(-5))
	checkValue(t, c, int16(-5))
	checkValue(t, c, userID(-5))
	checkValue(t, c, -5)
	checkValue(t, c, uint64(math.MaxUint64))
	checkValue(t, c, float32(math.Pi))
	checkValue(t, c, celsius(math.Pi))
	checkValue(t, c, wave(complex(1, 2)))
	checkValue(t, c, complex(1, 2))
	checkValue(t, c, time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC))
	checkValue(t, c, netip.MustParseAddr("10.0.0.1"))
	checkValue(t, c, coordinates{1, 2})
	checkValue(t, c, &coordinates{1, 2})
	checkValue(t, c, url.URL{Host: "example.org"})
	checkValue(t, c, struct{ A, B int }{1, 2})
	checkValue(t, c, &struct{ A *url.URL }{&url.URL{Path: "/<a>"}})
	checkValue(t, c, map[string][]int{"a": {1}})
	checkValue[*struct{ A int }](t, c, nil)
}

// What would not come back as it was, neither a typed cache nor SetValue takes, with an
// error that names it.
func TestLossyTypesAreRefused(t *testing.T) {
	type anything struct{ Any any }
	type sealed struct{ at, count int }
	_ = sealed{at: 1, count: 1}
	c := harness.OpenSmall(t)
	_, errOfType := firn.NewTyped(c, "n", firn.TypedOptions[int, []anything]{})
	_, errOfField := firn.NewTyped(c, "n", firn.TypedOptions[int, map[string]*sealed]{})
	_, errOfKey := firn.NewTyped(c, "n", firn.TypedOptions[struct {
		netip.Addr
		Port uint16
	}, int]{})
	for _, refused := range []struct {
		by   string
		err  error
		want string
	}{
		{"NewTyped, an interface", errOfType, "anything[].Any is an interface"},
		{"NewTyped, a field", errOfField, "[].at is unexported: set a Codec, or leave the field out"},
		{"NewTyped, its keys", errOfKey, "from its embedded netip.Addr"},
		{"SetValue", firn.SetValue(c, "k", anything{1}), "anything.Any is an interface"},
	} {
		if refused.err == nil || !strings.Contains(refused.err.Error(), refused.want) {
			t.Errorf("%s: %v, want an error with %q", refused.by, refused.err, refused.want)
		}
	}
	if _, err := firn.NewTyped(c, "n", firn.TypedOptions[int, anything]{Codec: firn.JSONCodec[anything]()}); err != nil {
		t.Errorf("JSONCodec: %v", err)
	}
}

func TestValueOfWrongType(t *testing.T) {
	c := harness.OpenSmall(t)
	ctx := context.Background()
	firn.SetValue(c, "k", time.Unix(0, 0))
	_, err := firn.LookupValue[user](ctx, c, "k")
	if !errors.Is(err, firn.ErrWrongType) || !strings.Contains(err.Error(), "time.Time") ||
		!strings.Contains(err.Error(), "typed.user") || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("got %v, want an error that names key and types", err)
	}
	if _, ok := firn.GetValue[int64](c, "k"); ok {
		t.Error("GetValue of another type succeeds")
	}
	if n := c.Stats().Mismatches; n != 2 {
		t.Errorf("%d mismatches, want 2", n)
	}
	if v, ok := firn.GetValue[time.Time](c, "k"); !ok || !v.Equal(time.Unix(0, 0)) {
		t.Errorf("the value is gone: %v, %v", v, ok)
	}
}

// A type of the same name and other fields does not read the value, which goes.
func TestValueOfOtherVersion(t *testing.T) {
	c := harness.OpenSmall(t)
	set := func() {
		type versioned struct{ A int }
		firn.SetValue(c, "k", versioned{1})
	}
	set()
	type versioned struct{ A, B int }
	if _, err := firn.LookupValue[versioned](context.Background(), c, "k"); !errors.Is(err, firn.ErrNotFound) || errors.Is(err, firn.ErrWrongType) {
		t.Errorf("got %v", err)
	}
	if c.Stats().Mismatches != 1 || c.Len() != 0 {
		t.Errorf("%d mismatches, %d entries", c.Stats().Mismatches, c.Len())
	}
}

func TestValueErrors(t *testing.T) {
	ctx := context.Background()
	c := harness.OpenSmall(t)
	type link struct{ Next *link }
	ring := &link{}
	ring.Next = ring
	for want, err := range map[string]error{
		"nil has no type":      firn.SetValue(c, "k", nil),
		"secret is unexported": firn.SetValue(c, "k", struct{ secret int }{}),
		"or is a cycle":        firn.SetValue(c, "k", ring),
		"too large":            firn.SetValue(c, "k", make([]byte, 1<<20)),
		"time to live":         firn.SetValueWithTTL(c, "k", 1, 0),
		"is an interface":      lookupError[any](c),
		"firn: not found":      lookupError[int](c),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if err := firn.DeleteValue(c, "absent"); err != nil {
		t.Error(err)
	}
	firn.SetValue(c, "k", 1)
	firn.DeleteValue(c, "k")
	if _, ok := firn.GetValue[int](c, "k"); ok {
		t.Error("found after DeleteValue")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := firn.LookupValue[int](cancelled, c, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("LookupValue with a cancelled context: %v", err)
	}
	c.Close()
	if err := firn.SetValue(c, "k", 1); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("SetValue after Close: %v", err)
	}
	if _, err := firn.LookupValue[int](ctx, c, "k"); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("LookupValue after Close: %v", err)
	}
}

func lookupError[T any](c *firn.Cache) error {
	_, err := firn.LookupValue[T](context.Background(), c, "absent")
	return err
}

func TestValueTTL(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Minute })
	firn.SetValue(c, "a minute", 1)
	firn.SetValueWithTTL(c, "an hour", 1, time.Hour)
	firn.SetValueWithTTL(c, "for ever", 1, firn.Forever)
	clock.Advance(time.Second)
	for key, want := range map[string]time.Duration{"a minute": time.Minute - time.Second, "an hour": time.Hour - time.Second, "for ever": firn.Forever} {
		if got, ok := firn.ValueTTL(c, key); !ok || got != want {
			t.Errorf("ValueTTL of %q: %v, %v, want %v", key, got, ok, want)
		}
	}
	if ttl, ok := firn.ValueTTL(c, "absent"); ok || ttl != 0 {
		t.Errorf("ValueTTL of nothing: %v, %v", ttl, ok)
	}
	clock.Advance(time.Minute)
	_, minute := firn.GetValue[int](c, "a minute")
	_, hour := firn.GetValue[int](c, "an hour")
	if minute || !hour {
		t.Errorf("after a minute: %v, %v", minute, hour)
	}
}

// Any bytes where a value should be are a miss, or a value.
func FuzzGetValue(f *testing.F) {
	c := harness.OpenSmall(f)
	firn.SetValue(c, "k", user{Name: "x"})
	var key []byte
	for k, v := range c.All() {
		if strings.HasSuffix(string(k), "k") {
			key = append([]byte(nil), k...)
			f.Add(append([]byte(nil), v...))
			f.Add(append([]byte(nil), v[:4]...))
			f.Add(append([]byte(nil), v[:20]...))
		}
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		if c.Set(key, stored) != nil {
			return
		}
		_, err := firn.LookupValue[user](context.Background(), c, "k")
		if err != nil && !errors.Is(err, firn.ErrNotFound) && !errors.Is(err, firn.ErrWrongType) {
			t.Errorf("%x: %v", stored, err)
		}
		firn.GetValue[string](c, "k")
	})
}
