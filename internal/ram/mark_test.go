package ram

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// A write that is bound to a mark happens if the key was not written since, and
// what expires or leaves by itself is no write.
func TestMark(t *testing.T) {
	key := []byte("key")
	for _, x := range []struct {
		name     string
		first    int64 // the deadline of a value that is there when the key is marked; -1: there is none
		then     func(t *Tier, now *atomic.Int64)
		unchange bool
	}{
		{"absent, nothing", -1, func(*Tier, *atomic.Int64) {}, true},
		{"absent, Set", -1, func(t *Tier, _ *atomic.Int64) { t.Set(key, []byte("x"), 0) }, false},
		{"absent, Delete", -1, func(t *Tier, _ *atomic.Int64) { t.Delete(key) }, true},
		{"absent, hidden Set", -1, func(t *Tier, _ *atomic.Int64) { t.Set(key, nil, -5000) }, false},
		{"there, nothing", 0, func(*Tier, *atomic.Int64) {}, true},
		{"there, read", 0, func(t *Tier, _ *atomic.Int64) { t.Get(nil, key) }, true},
		{"there, Set in place", 0, func(t *Tier, _ *atomic.Int64) { t.Set(key, []byte("2nd"), 0) }, false},
		{"there, Set of another length", 0, func(t *Tier, _ *atomic.Int64) { t.Set(key, []byte("second"), 0) }, false},
		{"there, Delete", 0, func(t *Tier, _ *atomic.Int64) { t.Delete(key) }, false},
		{"expiring, expired", 2000, func(_ *Tier, now *atomic.Int64) { now.Store(2000) }, true},
		{"expiring, swept", 2000, func(t *Tier, now *atomic.Int64) { now.Store(9000); t.Sweep() }, true},
		{"expiring, swept and set", 2000, func(t *Tier, now *atomic.Int64) { now.Store(9000); t.Sweep(); t.Set(key, []byte("x"), 0) }, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, del := range []bool{false, true} {
				var now atomic.Int64
				now.Store(1000)
				tier, err := New(Config{Bytes: 1 << 20, Seed: 1, Now: now.Load})
				if err != nil {
					t.Fatal(err)
				}
				defer tier.Close()
				if x.first >= 0 {
					if err := tier.Set(key, []byte("1st"), x.first); err != nil {
						t.Fatal(err)
					}
				}
				m := tier.MarkHashed(tier.Hash(key), key)
				x.then(tier, &now)
				before, _, there := tier.PeekStale(nil, key)
				var left Left
				if del {
					err = tier.DeleteUnwritten(&m, tier.Hash(key), key, &left)
				} else {
					err = tier.SetUnwritten(&m, tier.Hash(key), key, []byte("loaded"), 0, &left)
				}
				if want := map[bool]error{true: nil, false: ErrChanged}[x.unchange]; err != want {
					t.Errorf("delete %v: %v, want %v", del, err, want)
				}
				after, _, ok := tier.PeekStale(nil, key)
				got := fmt.Sprintf("%q %v", after, ok)
				want := fmt.Sprintf("%q %v", before, there)
				if x.unchange {
					want = map[bool]string{false: `"loaded" true`, true: `"" false`}[del]
				}
				if got != want {
					t.Errorf("delete %v: %s, want %s", del, got, want)
				}
				if err := tier.Check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
