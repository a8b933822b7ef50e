package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs/vfstest"
	"github.com/firncache/firn/internal/watch"
)

// DeleteIfEqual removes a value where it lies, and writes nothing where there is another one or
// none: a load that has begun goes on.
func TestDeleteIfEqual(t *testing.T) {
	key := []byte("key")
	inRAM := func(o Config) func(t *testing.T) *Store {
		return func(t *testing.T) *Store {
			s := new(Store)
			o.RAMBytes, o.Clock = 1<<20, time.Now
			if err := s.Open(o); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			if err := s.Set(s.Hash(key), key, []byte("value"), 0); err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	above := func() Config {
		return Config{Config: local.Config{FS: vfstest.NewMem(), SSD: ssd.Config{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: ssd.AdmitAll}}}
	}
	for where, with := range map[string]func(t *testing.T) *Store{
		"RAM":               inRAM(Config{}),
		"RAM above the SSD": func(t *testing.T) *Store { return inRAM(above())(t) },
		"SSD": func(t *testing.T) *Store {
			s := inRAM(above())(t)
			s.Force().Demote(func([]byte) bool { return true })
			return s
		},
		"shared": func(t *testing.T) *Store {
			return inRAM(Config{Shared: sharedtest.NewServer().Tier()})(t)
		},
	} {
		for what, x := range map[string]struct {
			key, stored string
			gone        bool
		}{
			"it":            {"key", "value", true},
			"another value": {"key", "older", false},
			"nothing":       {"other", "value", false},
		} {
			t.Run(what+" in "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := with(t)
					var w watch.Watch
					s.Watch(&w, s.Hash([]byte(x.key)), []byte(x.key))
					defer s.Unwatch(&w)
					before, _ := s.Stats()
					if err := s.DeleteIfEqual(context.Background(), []byte(x.key), []byte(x.stored)); err != nil {
						t.Error(err)
					}
					if after, _ := s.Stats(); after.Hits != before.Hits || after.Misses != before.Misses {
						t.Errorf("it counts as a read: %+v, %+v", before, after)
					}
					if w.Voided() != x.gone {
						t.Errorf("it was a write: %v, want %v", w.Voided(), x.gone)
					}
					if v, ok := s.Get(nil, key); ok == x.gone || ok && string(v) != "value" {
						t.Errorf("there is %q, %v: want it gone: %v", v, ok, x.gone)
					}
				})
			})
		}
	}
}

// DeleteIfEqual removes what no Get shows: a value past its deadline, which a load may have
// returned, and one that is obsolete; but no negative entry.
func TestDeleteIfEqualUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Store)
		if err := s.Open(Config{Config: local.Config{RAMBytes: 1 << 20, Clock: time.Now, Grace: time.Hour.Milliseconds()}}); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.SetObsolete(func(key, _ []byte) (bool, int64) { return string(key) == "obsolete", 0 }, nil)
		for key, deadline := range map[string]int64{"stale": 1000, "obsolete": 0, "negative": -2000} {
			var value []byte
			if deadline >= 0 {
				value = []byte("value")
			}
			if deadline != 0 {
				deadline += max(-1, min(1, deadline)) * s.Now()
			}
			if err := s.Set(s.Hash([]byte(key)), []byte(key), value, deadline); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		for key, gone := range map[string]bool{"stale": true, "obsolete": true, "negative": false} {
			value := []byte("value")
			if !gone {
				value = nil
			}
			if err := s.DeleteIfEqual(context.Background(), []byte(key), value); err != nil {
				t.Error(err)
			}
			if _, _, ok := s.RAM.PeekStale(s.Hash([]byte(key)), nil, []byte(key)); ok == gone {
				t.Errorf("%s: gone: %v, want %v", key, !ok, gone)
			}
		}
	})
}
