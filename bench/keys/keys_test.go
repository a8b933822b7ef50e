package keys

import (
	"bytes"
	"testing"
)

var orders = []Order{Zipf, Uniform, Absent, Sequential}

func mustNew(t *testing.T, o Order, n, count int, seed uint64) Stream {
	t.Helper()
	s, err := New(o, n, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != count {
		t.Fatalf("%s: %d keys; expected %d", o, s.Len(), count)
	}
	return s
}

// present lists the keys that a run of n entries stores.
func present(n int) map[string]int {
	keys := make(map[string]int, n)
	for i := range n {
		keys[string(Append(nil, uint64(i)))] = i
	}
	return keys
}

func (s Stream) at(i int) []byte { return s[i*Size : (i+1)*Size] }

func TestSameArgumentsSameStream(t *testing.T) {
	for _, o := range orders {
		a, b := mustNew(t, o, 1000, 5000, 7), mustNew(t, o, 1000, 5000, 7)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: two streams of the same arguments differ", o)
		}
		if o != Sequential && bytes.Equal(a, mustNew(t, o, 1000, 5000, 8)) {
			t.Errorf("%s: another seed gave the same stream", o)
		}
	}
}

func TestStreamsDrawFromTheirKeys(t *testing.T) {
	const n, count = 1000, 20_000
	keys := present(n)
	if len(keys) != n {
		t.Fatalf("%d different keys of %d numbers", len(keys), n)
	}
	for _, o := range orders {
		s := mustNew(t, o, n, count, 1)
		for i := range count {
			if _, ok := keys[string(s.at(i))]; ok == (o == Absent) {
				t.Fatalf("%s: key %d is present: %v", o, i, ok)
			}
		}
	}
}

func TestShares(t *testing.T) {
	const n, count = 1000, 200_000
	most := map[Order][2]float64{ // the share of the most frequent key: 1/H(1000, 0.99) and 1/1000
		Zipf: {0.12, 0.14}, Uniform: {0.001, 0.0015}, Sequential: {0.001, 0.001},
	}
	for o, want := range most {
		counts := make(map[string]int)
		s := mustNew(t, o, n, count, 3)
		top := 0
		for i := range count {
			counts[string(s.at(i))]++
			top = max(top, counts[string(s.at(i))])
		}
		if share := float64(top) / count; share < want[0] || share > want[1] {
			t.Errorf("%s: the most frequent key has a share of %.4f; expected %v", o, share, want)
		}
		if len(counts) < n*9/10 {
			t.Errorf("%s: %d different keys; expected nearly %d", o, len(counts), n)
		}
	}
}

func TestScatterIsOneToOne(t *testing.T) {
	for _, n := range []uint64{1, 2, 1000, 65_536, 100_003} {
		seen := make(map[uint64]bool)
		for i := range n {
			seen[scatter(i, n)] = true
		}
		if uint64(len(seen)) != n {
			t.Errorf("n=%d: %d different numbers", n, len(seen))
		}
	}
}

func TestSlice(t *testing.T) {
	s := mustNew(t, Sequential, 100, 100, 0)
	for _, c := range []struct{ from, count, first int }{{0, 10, 0}, {90, 10, 90}, {91, 10, 0}, {150, 10, 50}, {0, 100, 0}} {
		got := s.Slice(c.from, c.count)
		if got.Len() != c.count || !bytes.Equal(got.at(0), s.at(c.first)) {
			t.Errorf("Slice(%d, %d): %d keys; expected those from %d on", c.from, c.count, got.Len(), c.first)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New("hilbert", 10, 10, 0); err == nil {
		t.Error("an unknown order was taken")
	}
	if _, err := New(Zipf, 0, 10, 0); err == nil {
		t.Error("a stream out of no keys was made")
	}
}
