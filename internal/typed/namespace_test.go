package typed

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/firncache/firn/internal/tiered"
)

func openStore(t *testing.T) *tiered.Store {
	t.Helper()
	s := new(tiered.Store)
	if err := s.Open(tiered.Config{RAMBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A namespace that nobody uses any more does not change the number of the one that is
// in use under its name.
func TestClearAfterClose(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	n := new(Namespaces)
	open := func() *Namespace {
		s, err := n.Open(store, "n")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old, also := open(), open()
	if old != also || n.Len() != 1 {
		t.Errorf("%d namespaces of one name", n.Len())
	}
	n.Close(also)
	if err := old.Clear(context.Background()); err != nil || n.Len() != 1 {
		t.Errorf("with one user of two: %v, %d namespaces", err, n.Len())
	}
	n.Close(old)
	next := open()
	if next == old || next.Generation().Number != old.Generation().Number {
		t.Error("used again, it has another number, or is the one that was closed")
	}
	if err := old.Clear(context.Background()); !errors.Is(err, tiered.ErrClosed) {
		t.Errorf("Clear of the old one: %v", err)
	}
	if got, ok := store.Number(next.id); !ok || got != next.Generation().Number {
		t.Errorf("the number is %d, %v, want %d", got, ok, next.Generation().Number)
	}
	if err := next.Clear(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, ok := store.Number(next.id); !ok || got != next.Generation().Number || got == old.Generation().Number {
		t.Errorf("after Clear the number is %d, %v, want %d", got, ok, next.Generation().Number)
	}
}

// A namespace in use keeps its slot while others come and go; one that is not may lose
// it.
func TestNumbersAreHeld(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	n := new(Namespaces)
	s, err := n.Open(store, "n")
	if err != nil {
		t.Fatal(err)
	}
	churn := func() {
		for i := range 3_000 {
			other, err := n.Open(store, string(rune('a'+i)))
			if err != nil {
				t.Fatal(err)
			}
			n.Close(other)
		}
	}
	churn()
	if got, ok := store.Number(s.id); !ok || got != s.Generation().Number {
		t.Errorf("in use, it lost its slot: %d, %v", got, ok)
	}
	n.Close(s)
	churn()
	if _, ok := store.Number(s.id); ok {
		t.Error("not in use, it has its slot still")
	}
}

// A namespace that was forgotten gives its slot back; one of its name that is in use
// by then stays.
func TestForgottenIsReleased(t *testing.T) {
	store := openStore(t)
	n := new(Namespaces)
	open := func(name string) *Namespace {
		s, err := n.Open(store, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for i := range 3_000 { // more than can be held
		open(string(rune('a' + i)))
	}
	for n.Len() > 0 {
		runtime.GC()
		runtime.Gosched()
	}
	s := open("n")
	if got, ok := store.Number(s.id); !ok || got != s.Generation().Number {
		t.Errorf("the slots are held: %d, %v", got, ok)
	}
	forget(forgotten{weak.Make(n), s.id})
	if again := open("n"); again != s {
		t.Error("a namespace in use was forgotten")
	}
	runtime.KeepAlive(s)
}
