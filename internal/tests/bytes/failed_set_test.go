package bytes

import (
	"errors"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// picky is a codec that does not take every value.
type picky struct{}

var errPicky = errors.New("too odd")

func (picky) Name() string                    { return "picky" }
func (picky) Decode(b []byte) (string, error) { return string(b), nil }
func (picky) Append(dst []byte, v string) ([]byte, error) {
	if v == "odd" {
		return dst, errPicky
	}
	return append(dst, v...), nil
}

// A Set that fails leaves no older value, which would be stale: whatever it fails for, and
// wherever the value lies.
func TestFailedSetLeavesNothing(t *testing.T) {
	key, big := []byte("key"), make([]byte, 1<<20)
	for name, options := range map[string]func() []firntest.Option{
		"RAM": func() []firntest.Option { return nil },
		"SSD": func() []firntest.Option { return []firntest.Option{firntest.SSD()} },
		"shared": func() []firntest.Option {
			return []firntest.Option{firntest.Options(func(o *firn.Options) { o.Shared = sharedtest.NewServer().Tier() })}
		},
	} {
		c := firntest.New(t, options()...)
		values, err := firn.NewTyped(c.Cache, "values", firn.TypedOptions[string, string]{Codec: picky{}})
		if err != nil {
			t.Fatal(err)
		}
		for what, set := range map[string]struct {
			fails error
			call  func() error
		}{
			"Set":                   {firn.ErrTooLarge, func() error { return c.Set(key, big) }},
			"SetMulti":              {firn.ErrTooLarge, func() error { return c.SetMulti(t.Context(), [][]byte{key}, [][]byte{big}) }},
			"typed Set":             {errPicky, func() error { return values.Set("key", "odd") }},
			"typed Set of too much": {firn.ErrTooLarge, func() error { return values.Set("key", string(big)) }},
			"typed SetMulti":        {errPicky, func() error { return values.SetMulti(t.Context(), []string{"key"}, []string{"odd"}) }},
		} {
			if name == "shared" && set.fails == firn.ErrTooLarge {
				continue // there is no room for a copy, and the value is on the server
			}
			if err := errors.Join(c.Set(key, nil), values.Set("key", "older")); err != nil {
				t.Fatal(err)
			}
			if c.Disk != nil {
				c.DemoteAll()
			}
			if err := set.call(); err == nil || set.fails != nil && !errors.Is(err, set.fails) {
				t.Errorf("%s, %s: %v, want %v", what, name, err, set.fails)
			}
			_, typed := values.Get("key")
			if left := [...]bool{c.Has(key), typed}; left == [...]bool{true, true} {
				t.Errorf("%s, %s: the older value is found", what, name)
			}
		}
	}
}
