package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/wire"
)

// Checks of the same copy share an answer; and each caller's value is its own.
func TestChecksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTier(Options{Addrs: []string{"none:1"}, Namespace: "test", Staleness: time.Hour})
		q, asked := shared.Query{Key: []byte("k"), Have: 7}, 0
		answer := make(chan string)
		go func() {
			_, _ = o.checks.Do(t.Context(), checkOf{"k", 7}, flight.Any, func(context.Context) (shared.Found, error) {
				asked++
				return shared.Found{Value: []byte(<-answer), Version: 8, Stamp: 3}, nil
			})
		}()
		synctest.Wait()
		got := make(chan string, 2)
		for range cap(got) {
			go func() {
				f, err := o.Read(t.Context(), []byte("dst "), q)
				got <- string(f.Value)
				if clear(f.Value); err != nil || f.Version != 8 || f.Stamp != 0 {
					t.Errorf("%+v, %v: want the first one's answer, without its stamp", f, err)
				}
			}()
		}
		synctest.Wait()
		if _, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k"), Have: 9}); !errors.Is(err, wire.ErrNotConnected) {
			t.Errorf("of another version: %v: want that it has been asked for", err)
		}
		for answer <- "newer"; len(got) < cap(got); {
			synctest.Wait()
		}
		if a, b := <-got, <-got; a != "dst newer" || b != a || asked != 1 {
			t.Errorf("%q and %q, asked %d times: want the first one's answer", a, b, asked)
		}
	})
}

func TestChecksAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTier(Options{Addrs: []string{"none:1"}, Namespace: "test", Timeout: time.Second})
		var leave func()
		for full := false; !full; {
			next, err := o.wire().EnterCheck(t.Context())
			if full = err != nil; !full {
				leave = next
			}
		}
		began := time.Now()
		_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k"), Have: 7})
		if waited := time.Since(began); !errors.Is(err, shared.ErrUnavailable) || !strings.Contains(err.Error(), "too many") || waited != time.Second {
			t.Errorf("%v after %v: want it unavailable after a second", err, waited)
		}
		o.ReadMulti(t.Context(), []shared.Query{{Key: []byte("k"), Have: 7}}, func(_ int, _ shared.Found, err error) {
			if !errors.Is(err, shared.ErrUnavailable) || !strings.Contains(err.Error(), "too many") {
				t.Errorf("of many: %v", err)
			}
		})
		if _, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")}); !errors.Is(err, wire.ErrNotConnected) {
			t.Errorf("%v: want a read without a copy not to wait", err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k"), Have: 7})
			done <- err
		}()
		synctest.Wait()
		leave()
		if err := <-done; !errors.Is(err, wire.ErrNotConnected) {
			t.Errorf("%v: want it asked when there is room", err)
		}
	})
}
