package remote

import (
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/servertest"
)

// Who loads anew what is there leases it beside the value, which others go on to read.
func TestLeaseOfAValue(t *testing.T) {
	eachWay(t, func(t *testing.T, s *servertest.Server, a opened) {
		b := open(t, a.given, s.Addr)
		v := a.set(t, "k", "old").Version
		have := shared.Query{Key: []byte("k"), Have: v}
		mine, f, err := a.leaseOf(t, have)
		if err != nil || f != nil || mine.Version != v || mine.Leased == 0 || mine.Leased == v {
			t.Fatalf("%+v, %+v, %v: want a lease beside version %d", mine, f, err, v)
		}
		e, f, err := b.leaseOf(t, have)
		if !errors.Is(err, shared.ErrLeased) || e.Version != v || e.Leased != 0 || f != nil {
			t.Fatalf("%+v, %+v, %v: want that a has it", e, f, err)
		}
		if got := b.valueAt(t, "k"); got != "old" {
			t.Errorf("%q: want the value meanwhile", got)
		}
		a.Release([]byte("k"), mine)
		if err := b.Await(t.Context(), []byte("k"), e); err != nil {
			t.Fatal(err)
		}
		theirs, _, err := b.leaseOf(t, have)
		if err != nil || theirs.Leased == 0 {
			t.Fatalf("%+v, %v: want the lease that a has released", theirs, err)
		}
		if err := b.storeLoaded(t, "k", "new", theirs); err != nil {
			t.Fatal(err)
		}
		if err := a.storeLoaded(t, "k", "late", mine); !errors.Is(err, shared.ErrChanged) {
			t.Errorf("%v: want a's late value refused", err)
		}
		e, f, err = a.leaseOf(t, have)
		if err != nil || f == nil || string(f.Value) != "new" || e.Leased != 0 {
			t.Errorf("%+v, %+v, %v: want the newer value", e, f, err)
		}
		b.Close(t.Context()) // has released the lease beside it
		if n := s.Do("EXISTS", "test:rk").Int; n != 0 {
			t.Error("the lease is there after the store")
		}
	})
}

// A value past its deadline is there for its grace: it is an answer, and who finds it loads.
func TestLeaseOfAPastValue(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{}, s.Addr)
	b := open(t, Options{}, s.Addr)
	past := entry.Header{Version: 7, Deadline: 1} // of 1970
	s.Do("SET", "test:kk", string(entry.Append(nil, past, []byte("old"))))
	mine, f, err := a.lease(t, "k")
	if err != nil || f == nil || string(f.Value) != "old" || f.Deadline > time.Now().UnixMilli() || mine.Version != 7 || mine.Leased == 0 {
		t.Fatalf("%+v, %+v, %v: want the value and a lease", mine, f, err)
	}
	e, f, err := b.lease(t, "k")
	if !errors.Is(err, shared.ErrLeased) || f == nil || e.Version != 7 || e.Leased != 0 {
		t.Fatalf("%+v, %+v, %v: want the value, leased by a", e, f, err)
	}
	if err := a.storeLoaded(t, "k", "new", mine); err != nil {
		t.Error(err)
	}
	if err := b.Await(t.Context(), []byte("k"), e); err != nil {
		t.Error(err)
	}
}
