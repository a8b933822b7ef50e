package remote_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/servertest"
)

// A change whose value is too large changes nothing, as in a local cache.
func TestTooLargeChange(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		large := []byte(strings.Repeat("x", 2000))
		for name, call := range map[string]func(c *firn.Cache) error{
			"Compute": func(c *firn.Cache) error {
				return c.Compute(t.Context(), []byte("k"), func([]byte, bool) ([]byte, firn.Op) { return large, firn.OpSet })
			},
			"CompareAndSwap": func(c *firn.Cache) error {
				_, err := c.CompareAndSwap(t.Context(), []byte("k"), []byte("old"), large)
				return err
			},
		} {
			here, there := cache(t, s.Addr, remote.Options{MaxValueBytes: 1000}), cache(t, s.Addr, remote.Options{})
			if err := here.Set([]byte("k"), []byte("old")); err != nil {
				t.Fatal(err)
			}
			if err := call(here); !errors.Is(err, firn.ErrTooLarge) {
				t.Fatalf("%s: %v: want too large", name, err)
			}
			for where, c := range map[string]*firn.Cache{"here": here, "there": there} {
				if v, _ := c.Get(nil, []byte("k")); string(v) != "old" {
					t.Errorf("%s: %q %s: want what there was", name, v, where)
				}
			}
		}
	})
}

// What a process loads that has waited long enough for another's load is stored, though the other
// extends its lease meanwhile.
func TestImpatientLoadIsStored(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		o := remote.Options{LeaseTime: 600 * time.Millisecond}
		slow, other := cache(t, s.Addr, o), cache(t, s.Addr, o)
		began, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		go slow.GetOrLoad(context.WithoutCancel(t.Context()), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
			close(began)
			<-end
			return []byte("slow"), nil
		})
		<-began
		v, err := other.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
			time.Sleep(o.LeaseTime) // the holder extends its lease more than once
			return []byte("quick"), nil
		})
		if got, ok := other.Get(nil, []byte("k")); !ok || string(got) != "quick" {
			t.Errorf("%q, %v was loaded beside another's lease, and %q is there", v, err, got)
		}
	})
}
