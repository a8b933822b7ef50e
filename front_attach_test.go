package firn

import (
	"context"
	"testing"
)

// A write that began before there was a front deletes, before it returns, what a
// front has taken since.
func TestFrontAttachedDuringWrite(t *testing.T) {
	c, err := Open(Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plain, err := NewTyped(c, "n", TypedOptions[string, string]{HotValues: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Set("k", "old"); err != nil {
		t.Fatal(err)
	}
	s := plain.acquire()
	s.k = "k"
	if err := plain.encodeKey(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	value, err := plain.encode(nil, "new")
	if err != nil {
		t.Fatal(err)
	}

	fronts := &c.typed.fronts
	token := fronts.BeforeWrite(s.key) // nil
	front, err := NewTyped(c, "n", TypedOptions[string, string]{})
	if err != nil {
		t.Fatal(err)
	}
	front.Get("k")
	if v, ok := front.Get("k"); !ok || v != "old" || c.Stats().FrontHits != 1 {
		t.Fatalf("before the write: %q, %v, %d front hits", v, ok, c.Stats().FrontHits)
	}
	if err := c.store.RAM.Set(c.store.RAM.Hash(s.key), s.key, value, 0); err != nil {
		t.Fatal(err)
	}
	fronts.AfterWrite(s.key, token)
	for range 2 {
		if v, ok := front.Get("k"); !ok || v != "new" {
			t.Errorf("after the write: %q, %v", v, ok)
		}
	}
	if c.Stats().FrontHits != 2 {
		t.Errorf("%d front hits, want 2: the stripe is not filled any more", c.Stats().FrontHits)
	}
}
