package local

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// below is a store with one key that lies on the SSD alone.
func below(t *testing.T, key []byte) *Store {
	t.Helper()
	s := new(Store)
	if err := s.Open(Config{RAMBytes: 1 << 20, FS: vfstest.NewMem(), Clock: time.Now,
		SSD: ssd.Config{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: ssd.AdmitAll}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.setKey(key, []byte("value"), 0); err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		if err := s.setKey([]byte{byte(i), byte(i >> 8)}, make([]byte, 4<<10), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.peekFresh(key); ok {
		t.Fatal("the key is still in RAM")
	}
	return s
}

// A key is absent only if neither tier has it at one moment: a look that found nothing, first
// here and then there, may have been overtaken by a record on its way.
func TestAbsentInBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := []byte("key")
		s := below(t, key)
		hash := s.Hash(key)
		absent := func(token uint64) bool {
			return s.RAM.Absent(hash, key, func() bool { return s.ssd.lacks(hash, token) })
		}
		f, err := s.ssd.tier.Get(context.Background(), nil, key, hash)
		if err != nil {
			t.Fatal(err)
		}
		if absent(0) || !absent(f.Token) || absent(f.Token+1) {
			t.Error("a record below, that is not known to be another's, is none")
		}
		if _, err := s.Lookup(context.Background(), nil, key); err != nil {
			t.Fatal("not found")
		}
		s.ssd.tier.Invalidate(hash)
		if absent(0) {
			t.Error("a record in RAM is none")
		}
		if err := s.Delete(key); err != nil || !absent(0) {
			t.Errorf("after Delete, %v: it is there", err)
		}
	})
}

// besideClear calls f while Clear is between the tiers, and when it is over.
func besideClear(s *Store, f func(clearing bool)) {
	s.ssd.clearing.Add(1)
	f(true)
	s.ssd.clearing.Add(-1)
	f(false)
}

// While Clear is between the tiers, what lies on the SSD is gone for an Attempt: it would
// store what was made of it where Clear has been.
func TestAttemptDuringClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := []byte("key")
		s := below(t, key)
		besideClear(s, func(clearing bool) {
			var a Attempt
			s.Begin(&a, key)
			v, _, ok, err := s.Look(context.Background(), &a, nil)
			if ok == clearing || err != nil {
				t.Errorf("while Clear runs: %v, it finds %q, %v, %v", clearing, v, ok, err)
			}
			s.End(&a)
		})
	})
}

// While Clear is between the tiers, what lies on the SSD is gone for Touch, too: it would
// put it back where Clear has been.
func TestTouchDuringClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := []byte("key")
		s := below(t, key)
		besideClear(s, func(clearing bool) {
			if ok, err := s.Touch(context.Background(), key, s.Now()+1000); ok == clearing || err != nil {
				t.Errorf("while Clear runs: %v, it touches: %v, %v", clearing, ok, err)
			}
			if _, ok := s.peekFresh(key); ok == clearing {
				t.Errorf("while Clear runs: %v, the key is in RAM: %v", clearing, ok)
			}
		})
	})
}

// Close copies what is in RAM segment by segment: a read beside it promotes nothing, for which
// RAM would move records to where Close has been.
func TestReadDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := []byte("key")
		s := below(t, key)
		for _, closing := range []bool{true, false} {
			s.ssd.evictions.closing.Store(closing)
			if _, err := s.Lookup(context.Background(), nil, key); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.peekFresh(key); ok == closing {
				t.Errorf("while Close runs: %v, the key is in RAM: %v", closing, ok)
			}
		}
	})
}

// A look that finds nothing below ends with what has come to RAM meanwhile, though
// that is obsolete.
func TestLookBelowObsolete(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	asked := 0
	s := new(Store)
	if err := s.Open(Config{RAMBytes: 1 << 20, FS: vfstest.NewMem(), Clock: time.Now, SSD: ssd.Config{Bytes: 16 << 20, SegmentBytes: 64 << 10}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.SetObsolete(func(_, _ []byte) (bool, int64) {
		if asked++; asked > 3 {
			cancel()
		}
		return true, 0
	}, nil)
	key := []byte("key")
	if err := s.setKey(key, []byte("value"), 0); err != nil {
		t.Fatal(err)
	}
	var a Attempt
	s.Begin(&a, key)
	defer s.End(&a)
	if v, _, ok, err := s.lookBelow(ctx, &a, nil, s.answer); string(v) != "value" || !ok || err != nil {
		t.Errorf("%q, %v, %v", v, ok, err)
	}
}
