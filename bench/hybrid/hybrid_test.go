package hybrid

import (
	"bytes"
	"testing"
	"time"

	"github.com/firncache/firn/bench/keys"
)

const testMemory = 64 << 20

func openTest(t *testing.T, e Engine, dir string) Store {
	t.Helper()
	s, err := e.Open(Config{Dir: dir, Memory: testMemory, DataBytes: 4 << 20, Readers: 4})
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	return s
}

// TestEngines: what was loaded and set is there, also after closing and opening
// again, and work on it neither fails nor misses.
func TestEngines(t *testing.T) {
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, e, dir)
			const n = 2000
			if err := s.Load(n, Pair(ValueSize)); err != nil {
				t.Fatal(err)
			}
			extra := []byte("sixteen byte key")
			if err := s.Set(extra, []byte("value")); err != nil {
				t.Fatal(err)
			}
			for _, sets := range []int{0, 5, 100} {
				w := Work{Order: keys.Zipf, Sets: sets, InFlight: 4, Entries: n, ValueSize: ValueSize, Time: 10 * time.Millisecond}
				r, err := Run(s, w, 1, true)
				if err != nil || r.Misses != 0 || r.Ops < 4 || r.Gets+r.Sets != r.Ops {
					t.Errorf("%d %% Sets: %+v, %v", sets, r, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, e, dir)
			defer s.Close()
			if v, ok, err := s.Get(nil, extra); !ok || err != nil || !bytes.Equal(v, []byte("value")) {
				t.Errorf("after opening again: %q, %v, %v", v, ok, err)
			}
			if _, ok, err := s.Get(nil, []byte("sixteen byte kez")); ok || err != nil {
				t.Errorf("a key that is not there: %v, %v", ok, err)
			}
		})
	}
}

func TestFaster(t *testing.T) {
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			s := openTest(t, e, t.TempDir())
			defer s.Close()
			if err := s.Load(FasterKeys, Pair(FasterValueSize)); err != nil {
				t.Fatal(err)
			}
			for _, op := range FasterOps {
				if took, misses, err := Faster(s, op.Sets, 2, 1); err != nil || misses != 0 || took <= 0 {
					t.Errorf("%s: %v, %d misses, %v", op.Name, took, misses, err)
				}
			}
		})
	}
}
