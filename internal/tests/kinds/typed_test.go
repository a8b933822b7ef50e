package kinds

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// tenantKey is a key of two parts.
type tenantKey struct {
	Tenant uint32
	Name   string
}

func (k tenantKey) AppendBinary(dst []byte) ([]byte, error) {
	if k.Name == "bad" {
		return dst, errBadKey
	}
	return append(binary.BigEndian.AppendUint32(dst, k.Tenant), k.Name...), nil
}

func (k *tenantKey) UnmarshalBinary(b []byte) error {
	if len(b) < 4 {
		return errBadKey
	}
	k.Tenant, k.Name = binary.BigEndian.Uint32(b), string(b[4:])
	return nil
}

var errBadKey = errors.New("bad key")

// oneWay is a key that cannot be read back.
type oneWay struct{ id byte }

func (k oneWay) AppendBinary(dst []byte) ([]byte, error) { return append(dst, k.id), nil }

func checkTyped[K comparable](t *testing.T, a, b K) {
	t.Helper()
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[K, string]{})
	if err := typed.Set(a, "value of a"); err != nil {
		t.Fatal(err)
	}
	if v, ok := typed.Get(a); !ok || v != "value of a" || !typed.Has(a) {
		t.Errorf("%v: got %q, %v", a, v, ok)
	}
	if v, ok := typed.Get(b); ok || v != "" || typed.Has(b) {
		t.Errorf("%v: got %q, %v", b, v, ok)
	}
	typed.Set(b, "value of b")
	if got, want := maps.Collect(typed.All()), (map[K]string{a: "value of a", b: "value of b"}); !reflect.DeepEqual(got, want) {
		t.Errorf("All: got %v, want %v", got, want)
	}
	if err := typed.Delete(a); err != nil || typed.Has(a) || !typed.Has(b) {
		t.Errorf("%v is still there after Delete: %v", a, err)
	}
}

// internal/typed has the tests of the bytes of every other kind.
func TestTypedKeys(t *testing.T) {
	checkTyped(t, "a", "")
	checkTyped(t, 1, -1)
	checkTyped(t, digest{}, digest{19: 1})
	checkTyped(t, tenantKey{1, "a"}, tenantKey{2, "a"})
	checkTyped(t, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"))
}

func TestTypedRefusesKeys(t *testing.T) {
	c := harness.OpenSmall(t)
	for want, err := range map[string]error{
		"field at is of kind": typedError(c, "n", firn.TypedOptions[pointed, int]{}),
		"error is an interf":  typedError(c, "n", firn.TypedOptions[int, error]{}),
		"TypedOptions.TTL":    typedError(c, "n", firn.TypedOptions[int, int]{TTL: -1}),
		"has 256 bytes":       typedError(c, strings.Repeat("N", 256), firn.TypedOptions[int, int]{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	c.Close()
	if err := typedError(c, "new", firn.TypedOptions[int, int]{}); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("on a closed cache: %v", err)
	}
}

type pointed struct{ at *int }

var _ = pointed{}.at

func typedError[K comparable, V any](c *firn.Cache, name string, opts firn.TypedOptions[K, V]) error {
	_, err := firn.NewTyped(c, name, opts)
	return err
}

// Namespaces are apart, and typed caches of one share it.
func TestTypedNamespaces(t *testing.T) {
	c := harness.OpenSmall(t)
	a := harness.NewTyped(t, c, "a", firn.TypedOptions[string, string]{})
	b := harness.NewTyped(t, c, "b", firn.TypedOptions[string, string]{})
	alsoA := harness.NewTyped(t, c, "a", firn.TypedOptions[string, string]{})
	plain := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	alsoPlain := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	for _, x := range []struct {
		typed *firn.Typed[string, string]
		value string
	}{{a, "in a"}, {b, "in b"}, {plain, "in neither"}} {
		if err := x.typed.Set("key", x.value); err != nil {
			t.Fatal(err)
		}
	}
	c.Set([]byte("key"), []byte("raw"))
	for _, x := range []struct {
		typed *firn.Typed[string, string]
		value string
	}{{a, "in a"}, {alsoA, "in a"}, {b, "in b"}, {plain, "in neither"}, {alsoPlain, "in neither"}} {
		if v, ok := x.typed.Get("key"); !ok || v != x.value {
			t.Errorf("got %q, %v, want %q", v, ok, x.value)
		}
		if n := len(maps.Collect(x.typed.All())); n != 1 {
			t.Errorf("All yields %d entries, want 1", n)
		}
	}
	if err := alsoA.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Has("key") || alsoA.Has("key") || !b.Has("key") || !plain.Has("key") {
		t.Error("Clear emptied the wrong namespaces")
	}
	if err := a.Set("key", "new"); err != nil {
		t.Fatal(err)
	}
	if v, _ := alsoA.Get("key"); v != "new" {
		t.Errorf("after Clear: got %q, want what was set since", v)
	}
}

// While a namespace is in use, values of another type, codec or version are an error that names
// both; those of other keys, and of a namespace that was closed, are none.
func TestTypedNamespaceInUse(t *testing.T) {
	c := harness.OpenSmall(t)
	texts := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	also := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{HotValues: -1, TTL: time.Hour})
	harness.Must(t, texts.Set("k", "v"))
	refused := func() {
		t.Helper()
		for want, err := range map[string]error{
			"a int by number/1, version 0":        typedError(c, "n", firn.TypedOptions[string, int]{}),
			"a string by json/1, version 0":       typedError(c, "n", firn.TypedOptions[string, string]{Codec: firn.JSONCodec[string]()}),
			"a string by string/1, version 2":     typedError(c, "n", firn.TypedOptions[string, string]{Version: 2}),
			"has a string by string/1, version 0": typedError(c, "n", firn.TypedOptions[string, []byte]{}),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want an error with %q", err, want)
			}
		}
	}
	refused()
	harness.Must(t, typedError(c, "n", firn.TypedOptions[int, int]{}))
	harness.Must(t, texts.Close())
	refused()
	if v, ok := also.Get("k"); !ok || v != "v" {
		t.Errorf("got %q, %v", v, ok)
	}
	harness.Must(t, also.Close())
	harness.Must(t, typedError(c, "n", firn.TypedOptions[string, int]{}))
}

// Whatever differs between writer and reader, the value is not found, is
// counted, and goes.
func TestTypedMismatches(t *testing.T) {
	type old struct{ A, B int }
	type renamed struct{ A, B int }
	var wider any
	{
		type old struct{ A, B, C int }
		wider = func(c *firn.Cache) bool { return found(t, c, firn.TypedOptions[string, old]{}) }
	}
	for name, read := range map[string]func(c *firn.Cache) bool{
		"codec": func(c *firn.Cache) bool {
			return found(t, c, firn.TypedOptions[string, old]{Codec: renamedCodec[old]{}})
		},
		"version":      func(c *firn.Cache) bool { return found(t, c, firn.TypedOptions[string, old]{Version: 1}) },
		"value's type": func(c *firn.Cache) bool { return found(t, c, firn.TypedOptions[string, renamed]{}) },
		"fields":       wider.(func(c *firn.Cache) bool),
	} {
		c := harness.OpenSmall(t)
		writer := harness.NewTyped(t, c, "n", firn.TypedOptions[string, old]{})
		if err := writer.Set("8 bytes.", old{1, 2}); err != nil {
			t.Fatal(err)
		}
		if v, ok := writer.Get("8 bytes."); !ok || v != (old{1, 2}) {
			t.Fatalf("the writer reads %v, %v", v, ok)
		}
		harness.Must(t, writer.Close())
		if read(c) {
			t.Errorf("%s: found", name)
		}
		writer = harness.NewTyped(t, c, "n", firn.TypedOptions[string, old]{})
		if s := c.Stats(); s.Mismatches != 1 || writer.Has("8 bytes.") {
			t.Errorf("%s: %d mismatches, want 1; still there: %v", name, s.Mismatches, writer.Has("8 bytes."))
		}
	}
}

type renamedCodec[V any] struct{}

func (renamedCodec[V]) Name() string { return "json/2" }

func (renamedCodec[V]) Append(dst []byte, v V) ([]byte, error) { return dst, nil }

func (renamedCodec[V]) Decode(src []byte) (v V, err error) { return v, nil }

func found[V any](t *testing.T, c *firn.Cache, opts firn.TypedOptions[string, V]) bool {
	typed := harness.NewTyped(t, c, "n", opts)
	defer typed.Close()
	_, ok := typed.Get("8 bytes.")
	return ok
}

// Bytes that the codec does not accept are not found, are counted, and go.
func TestTypedDecodeErrors(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, user]{Codec: firn.JSONCodec[user]()})
	typed.Set("k", user{Name: "x"})
	for k, v := range c.All() {
		if bytes.Contains(v, []byte(`"Name":"x"`)) {
			c.Set(k, v[:len(v)-1])
		}
	}
	if _, err := typed.Lookup(context.Background(), "k"); !errors.Is(err, firn.ErrNotFound) || !strings.Contains(err.Error(), "json/1") {
		t.Errorf("got %v", err)
	}
	if s := c.Stats(); s.DecodeErrors != 1 || typed.Has("k") {
		t.Errorf("%d decode errors, want 1; still there: %v", s.DecodeErrors, typed.Has("k"))
	}
}

// A value that was set while a reader found the one before unreadable stays.
func TestTypedKeepsWhatWasSetMeanwhile(t *testing.T) {
	c := harness.OpenSmall(t)
	hook := &refusing{Codec: firn.JSONCodec[string]()}
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{Codec: hook})
	typed.Set("k", "bad")
	hook.refused = func() { typed.Set("k", "good") }
	if v, ok := typed.Get("k"); ok {
		t.Errorf("the bytes that were refused are %q", v)
	}
	if v, ok := typed.Get("k"); !ok || v != "good" {
		t.Errorf("got %q, %v, want what was set since", v, ok)
	}
	if n := c.Stats().DecodeErrors; n == 0 {
		t.Error("nothing was refused: the test shows nothing")
	}
}

// refusing is a codec that refuses "bad", and calls a function when it does.
type refusing struct {
	firn.Codec[string]
	refused func()
}

func (r *refusing) Decode(src []byte) (string, error) {
	v, err := r.Codec.Decode(src)
	if v == "bad" {
		r.refused()
		return "", errBadKey
	}
	return v, err
}

// Any bytes under a typed cache's key are a miss, or a value.
func FuzzTypedGet(f *testing.F) {
	c := harness.OpenSmall(f)
	typed := harness.NewTyped(f, c, "n", firn.TypedOptions[string, user]{})
	typed.Set("k", user{Name: "x"})
	var key, stamp []byte
	for k, v := range c.All() {
		if bytes.Contains(v, []byte(`"Name":"x"`)) {
			key, stamp = bytes.Clone(k), bytes.Clone(v[:4])
			f.Add(bytes.Clone(v))
		}
	}
	f.Add(stamp)
	f.Add([]byte("abc"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		if err := c.Set(key, stored); err != nil {
			return
		}
		if _, ok := typed.Get("k"); ok != typed.Has("k") {
			t.Errorf("found: %v, kept: %v", ok, !ok)
		}
	})
}

func TestTypedErrors(t *testing.T) {
	ctx := context.Background()
	c := harness.OpenSmall(t)
	floats := harness.NewTyped(t, c, "n", firn.TypedOptions[string, []float64]{Codec: firn.JSONCodec[[]float64]()})
	floats.Set("k", []float64{1})
	if err := floats.Set("k", []float64{math.NaN()}); err == nil || !strings.Contains(err.Error(), "encode a value of type []float64 as json/1") {
		t.Errorf("Set of NaN: %v", err)
	}
	if v, ok := floats.Get("k"); ok {
		t.Errorf("after a Set that failed: %v", v)
	}
	if err := floats.SetWithTTL("k", nil, -1); err == nil {
		t.Error("a negative TTL is no error")
	}
	keys := harness.NewTyped(t, c, "n", firn.TypedOptions[tenantKey, int]{})
	bad := tenantKey{1, "bad"}
	var b firn.TypedBatch[int]
	keys.GetMulti(ctx, &b, []tenantKey{bad})
	_, inBatch := b.Value(0)
	_, got := keys.Get(bad)
	_, err := keys.Lookup(ctx, bad)
	for _, err := range []error{err, keys.Set(bad, 1), keys.Delete(bad)} {
		if !errors.Is(err, errBadKey) || !strings.Contains(err.Error(), "tenantKey") {
			t.Errorf("got %v, want the key's error", err)
		}
	}
	if got || inBatch || keys.Has(bad) {
		t.Error("a key without bytes has a value")
	}
	if _, err := floats.Lookup(ctx, "absent"); err != firn.ErrNotFound {
		t.Errorf("Lookup: %v", err)
	}
	if err := harness.NewTyped(t, c, "n", firn.TypedOptions[int, []byte]{}).Set(1, make([]byte, 1<<20)); !errors.Is(err, firn.ErrTooLarge) {
		t.Errorf("Set of 1 MiB: %v", err)
	}
	c.Close()
	if err := floats.Set("k", nil); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Set after Close: %v", err)
	}
	if err := floats.Clear(ctx); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Clear after Close: %v", err)
	}
	if _, err := floats.Lookup(ctx, "k"); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Lookup after Close: %v", err)
	}
}

func TestTypedTTL(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Hour })
	short := harness.NewTyped(t, c, "short", firn.TypedOptions[string, int]{TTL: time.Minute})
	long := harness.NewTyped(t, c, "long", firn.TypedOptions[string, int]{})
	ever := harness.NewTyped(t, c, "ever", firn.TypedOptions[string, int]{TTL: firn.Forever})
	short.Set("k", 1)
	ever.Set("k", 1)
	if _, err := ever.GetOrLoad(t.Context(), "loaded", func(context.Context, string) (int, error) { return 1, nil }); err != nil {
		t.Error(err)
	}
	short.SetWithTTL("for ever", 1, firn.Forever)
	long.Set("k", 1)
	clock.Advance(time.Second)
	for _, x := range []struct {
		typed *firn.Typed[string, int]
		key   string
		want  time.Duration
		ok    bool
	}{
		{short, "k", time.Minute - time.Second, true},
		{short, "for ever", firn.Forever, true},
		{short, "absent", 0, false},
		{long, "k", time.Hour - time.Second, true},
		{ever, "k", firn.Forever, true},
		{ever, "loaded", firn.Forever, true},
	} {
		if got, ok := x.typed.TTL(x.key); got != x.want || ok != x.ok {
			t.Errorf("TTL of %q: %v, %v, want %v, %v", x.key, got, ok, x.want, x.ok)
		}
	}
	clock.Advance(time.Minute)
	if _, ok := short.TTL("k"); ok {
		t.Error("an expired value has a TTL")
	}
	if short.Has("k") || !short.Has("for ever") || !long.Has("k") {
		t.Error("after a minute only what was set with that TTL is gone")
	}
	clock.Advance(time.Hour)
	if long.Has("k") || !short.Has("for ever") {
		t.Error("after an hour only what lives for ever is there")
	}
	again := harness.NewTyped(t, c, "short", firn.TypedOptions[string, int]{})
	if !again.Has("for ever") {
		t.Error("the namespace itself has expired")
	}
}

// Options.Loading.TTLJitter spreads out what typed caches store, each
// with the TTL that it has, and leaves a TTL of its own alone.
func TestTypedJitter(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) {
		o.Clock, o.TTL, o.Loading.TTLJitter = clock.Now, 1000*time.Second, 0.25
	})
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
	short := harness.NewTyped(t, c, "short", firn.TypedOptions[int, int]{TTL: 100 * time.Second})
	ctx := context.Background()
	load := func(context.Context, int) (int, error) { return 1, nil }
	typedTTL := func(i int) (time.Duration, bool) { return typed.TTL(i) }
	shortTTL := func(i int) (time.Duration, bool) { return short.TTL(i) }
	for name, x := range map[string]struct {
		store func(i int) error
		ttl   func(i int) (time.Duration, bool)
		want  time.Duration
	}{
		"Set":                 {func(i int) error { return typed.Set(i, 1) }, typedTTL, 1000 * time.Second},
		"Set of another TTL":  {func(i int) error { return short.Set(i, 1) }, shortTTL, 100 * time.Second},
		"GetOrLoad":           {func(i int) error { _, err := typed.GetOrLoad(ctx, i, load); return err }, typedTTL, 1000 * time.Second},
		"load of another TTL": {func(i int) error { _, err := short.GetOrLoad(ctx, i, load); return err }, shortTTL, 100 * time.Second},
	} {
		if err := c.Clear(ctx); err != nil {
			t.Fatal(err)
		}
		const n = 300
		least, most, different := x.want, time.Duration(0), map[time.Duration]bool{}
		for i := range n {
			if err := x.store(i); err != nil {
				t.Fatal(name, err)
			}
			ttl, ok := x.ttl(i)
			if !ok {
				t.Fatalf("%s: %d is not there", name, i)
			}
			least, most, different[ttl] = min(least, ttl), max(most, ttl), true
		}
		// 300 even draws leave the outer tenths empty with a probability of 1e-13.
		if least < x.want*75/100 || least > x.want*775/1000 || most > x.want || most < x.want*975/1000 || len(different) < n/2 {
			t.Errorf("%s: %d different TTLs from %v to %v: want them spread from three quarters of %v to all of it", name, len(different), least, most, x.want)
		}
	}
	typed.SetWithTTL(0, 1, 1000*time.Second)
	if got, _ := typed.TTL(0); got != 1000*time.Second {
		t.Errorf("a TTL of its own became %v", got)
	}
}

func TestTypedGetMulti(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
	var keys []int
	for i := range 100 {
		keys = append(keys, i)
		if i%3 == 0 {
			typed.Set(i, fmt.Sprint("value ", i))
		}
	}
	var b firn.TypedBatch[string]
	for range 2 { // the second time over the first's values
		typed.GetMulti(t.Context(), &b, keys)
		for i := range keys {
			v, ok := b.Value(i)
			if ok != (i%3 == 0) || ok && v != fmt.Sprint("value ", i) || !ok && v != "" {
				t.Errorf("%d: got %q, %v", i, v, ok)
			}
		}
		slices.Reverse(keys)
		typed.GetMulti(t.Context(), &b, keys[:2])
		if v, ok := b.Value(0); !ok || v != "value 99" || b.Len() != 2 {
			t.Errorf("got %q, %v, Len %d", v, ok, b.Len())
		}
		slices.Reverse(keys)
	}
}

func TestTypedKeyCodec(t *testing.T) {
	c := harness.OpenSmall(t)
	codec, err := firn.DefaultCodec[time.Time]()
	if err != nil {
		t.Fatal(err)
	}
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[time.Time, int]{KeyCodec: codec})
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	typed.Set(day, 1)
	if got := maps.Collect(typed.All()); got[day] != 1 || len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// Entries whose keys cannot be read back are found and not listed.
func TestTypedOneWayKeys(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[oneWay, int]{})
	typed.Set(oneWay{7}, 7)
	if v, ok := typed.Get(oneWay{7}); !ok || v != 7 {
		t.Errorf("got %d, %v", v, ok)
	}
	if n := len(maps.Collect(typed.All())); n != 0 || c.Stats().DecodeErrors != 1 {
		t.Errorf("All yields %d entries, %d decode errors, want 0 and 1", n, c.Stats().DecodeErrors)
	}
}

func TestTypedAllEndsWithClear(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
	for i := range 100 {
		typed.Set(i, i)
	}
	n := 0
	for range typed.All() {
		n++
		typed.Clear(t.Context())
	}
	if n != 1 {
		t.Errorf("All went on after Clear: %d entries", n)
	}
}

func TestTypedAllocations(t *testing.T) {
	if invariants.Race {
		t.Log("not run under the race detector, which allocates")
		return
	}
	c := harness.OpenSmall(t)
	numbers := harness.NewTyped(t, c, "n", firn.TypedOptions[userID, celsius]{})
	texts := harness.NewTyped(t, c, "n", firn.TypedOptions[label, label]{HotValues: -1})
	hot := harness.NewTyped(t, c, "hot", firn.TypedOptions[label, label]{})
	addrs := harness.NewTyped(t, c, "n", firn.TypedOptions[netip.Addr, netip.Addr]{})
	structs := harness.NewTyped(t, c, "n", firn.TypedOptions[digest, struct{ A, B int }]{})
	addr := netip.MustParseAddr("10.0.0.1")
	numbers.Set(1, 1)
	texts.Set("a", "text")
	hot.Set("a", "text")
	hot.Get("a")
	addrs.Set(addr, addr)
	structs.Set(digest{}, struct{ A, B int }{1, 2})
	var b firn.TypedBatch[celsius]
	keys := []userID{1, 2, 3}
	for name, x := range map[string]struct {
		call func()
		want float64 // the codec's own
	}{
		"Get of a number":           {func() { numbers.Get(1) }, 0},
		"Get of nothing":            {func() { numbers.Get(2) }, 0},
		"Has":                       {func() { numbers.Has(1) }, 0},
		"TTL":                       {func() { numbers.TTL(1) }, 0},
		"Set of a number":           {func() { numbers.Set(1, 2) }, 0},
		"Delete":                    {func() { numbers.Delete(3) }, 0},
		"GetMulti of numbers":       {func() { numbers.GetMulti(t.Context(), &b, keys) }, 0},
		"Get of a string":           {func() { texts.Get("a") }, 1},
		"Set of a string":           {func() { texts.Set("a", "text") }, 0},
		"Get of a hot string":       {func() { hot.Get("a") }, 0},
		"Set of a hot string":       {func() { hot.Get("a"); hot.Set("a", "text") }, 2},                                             // the value, and its entry
		"Set of an unread string":   {func() { hot.Set("b", "text"); hot.Get("b"); hot.Set("b", "text"); hot.Set("b", "text") }, 2}, // by the read
		"Get of a binary marshaler": {func() { addrs.Get(addr) }, 0},
		"Set of a binary marshaler": {func() { addrs.Set(addr, addr) }, 0},
		"Set of a struct":           {func() { structs.Set(digest{}, struct{ A, B int }{3, 4}) }, 0},
	} {
		x.call() // warm
		if got := testing.AllocsPerRun(2000, x.call); got != x.want {
			t.Errorf("%s: %v allocations, want %v", name, got, x.want)
		}
	}
}

func TestFrontAllocations(t *testing.T) {
	if invariants.Race {
		t.Log("not run under the race detector, which allocates")
		return
	}
	c := harness.OpenSmall(t)
	type person struct{ Name, Email string }
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[digest, person]{})
	typed.Set(digest{}, person{"Ada", "ada@example.org"})
	typed.Get(digest{})
	if got := testing.AllocsPerRun(2000, func() { typed.Get(digest{}) }); got > 0 {
		t.Errorf("a front hit: %v allocations", got)
	}
}
