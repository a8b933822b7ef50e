package cachetest

import (
	"errors"
	"testing"
)

func TestSequence(t *testing.T) {
	key := []byte("key")
	for _, n := range []int{MinValue, 25, 100, 5000} {
		v := AppendValue(nil, key, 7, n)
		if len(v) != n {
			t.Fatalf("%d bytes, want %d", len(v), n)
		}
		if seq, err := Sequence(key, v); seq != 7 || err != nil {
			t.Errorf("%d bytes: sequence %d, %v, want 7", n, seq, err)
		}
		if _, err := Sequence([]byte("yek"), v); !errors.Is(err, ErrForeign) {
			t.Errorf("%d bytes under another key: %v", n, err)
		}
		if _, err := Sequence(key, v[:n-1]); !errors.Is(err, ErrTorn) {
			t.Errorf("%d bytes, one cut off: %v", n, err)
		}
	}
}

// Any mixture of two writes of one length is recognised.
func TestSequenceSeesMixtures(t *testing.T) {
	key := []byte("key")
	a, b := AppendValue(nil, key, 7, 200), AppendValue(nil, key, 8, 200)
	for cut := 1; cut < len(a); cut++ {
		mixed := append(append([]byte(nil), a[:cut]...), b[cut:]...)
		if string(mixed) == string(a) || string(mixed) == string(b) {
			continue
		}
		if _, err := Sequence(key, mixed); !errors.Is(err, ErrTorn) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestRegister(t *testing.T) {
	r := Register{Key: []byte("key")}
	old := AppendValue(nil, r.Key, 1, 64)
	for range 2 {
		r.Write(func(uint64) {})
	}
	if err := r.CheckRead(r.Acked(), old); !errors.Is(err, ErrStale) {
		t.Errorf("a value one write old: %v", err)
	}
	if err := r.CheckRead(1, old); err != nil {
		t.Errorf("a read that began before: %v", err)
	}
	if err := r.CheckRead(2, AppendValue(nil, r.Key, 3, 64)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a value from the future: %v", err)
	}
}
