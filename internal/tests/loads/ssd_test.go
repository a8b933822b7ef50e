package loads

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
)

// Expired values are answers also if they lie on the SSD, and come back from
// there with their deadlines after a restart; writes end them there too.
func TestLoadsOverSSD(t *testing.T) {
	clock := &cachetest.Clock{}
	dir := t.TempDir()
	openIt := func() *firn.Cache {
		return harness.Open(t, firn.Options{
			RAMBytes: 2 << 20, TTL: time.Minute, Clock: clock.Now,
			SSD:     harness.With(firn.SSDOptions{Dir: dir, Bytes: 64 << 20, Admission: firn.AdmitAll}, harness.Patiently),
			Loading: firn.LoadingOptions{NegativeTTL: time.Minute, RefreshAfter: 40 * time.Second, StaleIfError: time.Hour},
		})
	}
	c := openIt()
	boom := errors.New("boom")
	failing := func(context.Context, []byte) ([]byte, error) { return nil, boom }
	missing := func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotFound }
	expect := func(i int, load firn.LoadFunc, want string, wantErr error) {
		t.Helper()
		key, _ := harness.Numbered(i)
		v, err := c.GetOrLoad(t.Context(), nil, key, load)
		if string(v) != want || err != wantErr {
			t.Errorf("key %d: %.20q, %v: want %.20q, %v", i, v, err, want, wantErr)
		}
	}
	const n = 20_000 // several times what fits into RAM
	held := func(i int) bool {
		key, _ := harness.Numbered(i)
		return c.Has(key)
	}
	fill := func() {
		for i := range n {
			key, value := harness.Numbered(i)
			if err := c.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := func(i int) string {
		_, value := harness.Numbered(i)
		return string(value)
	}

	fill()
	clock.Advance(30 * time.Second)
	first := 0 // what leaves RAM is dropped where the log has no room just then
	for !held(first) {
		first++
	}
	expect(first, nil, old(first), nil) // a hit, from the SSD
	if s := c.Stats(); s.SSD.Hits == 0 {
		t.Fatalf("nothing came from the SSD: %+v", s)
	}
	clock.Advance(15 * time.Second)
	for deadline := time.Now().Add(time.Minute); c.Stats().Loads.Count == 0; { // it is due, once it has come up
		expect(1, harness.Value(old(1)), old(1), nil)
		if time.Now().After(deadline) {
			t.Fatal("no value from the SSD is refreshed ahead")
		}
	}

	fill()
	stale := map[int]bool{}
	for i := 0; i < n; i += 100 {
		stale[i] = held(i)
	}
	clock.Advance(2 * time.Minute)
	answers := 0
	for i := range stale {
		if stale[i] {
			expect(i, failing, old(i), nil)
			answers++
		}
	}
	if answers < n/100*9/10 {
		t.Errorf("%d of %d expired values are answers", answers, n/100)
	}
	key2, _ := harness.Numbered(2)
	key3, _ := harness.Numbered(3)
	c.Delete(key2)
	expect(2, failing, "", boom)
	expect(3, missing, "", firn.ErrNotFound)
	expect(3, failing, "", firn.ErrNotFound) // remembered
	c.Delete(key3)
	expect(3, failing, "", boom)
	expect(4, harness.Value("new"), "new", nil)
	if v, ok := c.Get(nil, []byte("key-000004")); !ok || string(v) != "new" {
		t.Errorf("after the load: %q, %v", v, ok)
	}

	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	c = openIt()
	found := 0
	for i := 10; i < n; i += 100 {
		key, _ := harness.Numbered(i)
		if v, err := c.GetOrLoad(t.Context(), nil, key, failing); err == nil && string(v) == old(i) {
			found++
		} else if err != boom {
			t.Errorf("key %d: %.20q, %v", i, v, err)
		}
	}
	if found < n/100*9/10 {
		t.Errorf("%d of %d expired values are answers after a restart", found, n/100)
	}
	expect(2, failing, "", boom)
	expect(3, failing, "", boom)
	clock.Advance(2 * time.Hour)
	expect(10, failing, "", boom)
}
