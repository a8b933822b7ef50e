package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Checks of the same copy share an answer that was asked for within the bound.
func TestChecksAreShared(t *testing.T) {
	var cs checks
	q := shared.Query{Key: []byte("k"), Have: 7}
	first, mine := cs.begin(q, 100, 10)
	if !mine {
		t.Fatal("want the first to ask")
	}
	if c, mine := cs.begin(q, 110, 10); mine || c != first {
		t.Error("want the second to wait for the first")
	}
	late, mine := cs.begin(q, 111, 10)
	if !mine {
		t.Fatal("want one who comes later than the bound to ask")
	}
	cs.end(q.Key, first, nil, shared.Found{Version: 7}, nil, false)
	if c, mine := cs.begin(q, 112, 10); mine || c != late {
		t.Error("want the latest to be waited for")
	}
	if _, mine := cs.begin(shared.Query{Key: []byte("other"), Have: 7}, 112, 10); !mine {
		t.Error("want another key to be asked for")
	}
	cs.end(q.Key, late, nil, shared.Found{Version: 7}, nil, false)
	if _, mine := cs.begin(q, 113, 10); !mine {
		t.Error("want an answer that is there not to be shared")
	}
	if _, mine := cs.begin(shared.Query{Key: q.Key, Have: 8}, 113, 10); !mine {
		t.Error("want another version to be asked for")
	}
}

// waiting has a check be under way, and another caller wait for it.
func waiting(t *testing.T) (o *Tier, c *check, q shared.Query, got chan shared.Found, errs chan error) {
	o = newTier(Options{Addrs: []string{"none:1"}, Namespace: "test"})
	q = shared.Query{Key: []byte("k"), Have: 7}
	c, _ = o.checks.begin(q, bootNanos(), int64(time.Hour))
	got, errs = make(chan shared.Found, 1), make(chan error, 1)
	go func() {
		f, err := o.Read(t.Context(), []byte("dst "), q)
		got <- f
		errs <- err
	}()
	synctest.Wait()
	return o, c, q, got, errs
}

func TestSharedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, c, q, got, errs := waiting(t)
		value := []byte("newer")
		o.checks.end(q.Key, c, value, shared.Found{Value: value, Version: 8, Stamp: 3}, nil, false)
		clear(value) // it is the first caller's
		f, err := <-got, <-errs
		if err != nil || string(f.Value) != "dst newer" || f.Version != 8 || f.Stamp != 3 {
			t.Errorf("%q, %+v, %v: want the first one's answer", f.Value, f, err)
		}
	})
}

// That the one who asks gives up is his own affair.
func TestSharedCheckIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, c, q, _, errs := waiting(t)
		o.checks.end(q.Key, c, nil, shared.Found{}, context.Canceled, true)
		if err := <-errs; !errors.Is(err, errNotConnected) {
			t.Errorf("%v: want that the second has asked himself", err)
		}
	})
}

func TestChecksAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTier(Options{Addrs: []string{"none:1"}, Namespace: "test", Timeout: time.Second})
		for range maxChecks {
			if _, err := o.wire.enterCheck(t.Context()); err != nil {
				t.Fatal(err)
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
		if _, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k")}); !errors.Is(err, errNotConnected) {
			t.Errorf("%v: want a read without a copy not to wait", err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := o.Read(t.Context(), nil, shared.Query{Key: []byte("k"), Have: 7})
			done <- err
		}()
		synctest.Wait()
		o.wire.leaveCheck()
		if err := <-done; !errors.Is(err, errNotConnected) {
			t.Errorf("%v: want it asked when there is room", err)
		}
	})
}
