package typed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/store"
)

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s := new(store.Store)
	if err := s.Open(store.Config{Config: local.Config{RAMBytes: 1 << 20}}); err != nil {
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
	shape := n.Shape("", 0, "")
	open := func() *Namespace {
		s, err := n.Open(store, "n", shape, Terms{})
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
	if err := old.Clear(context.Background()); !errors.Is(err, local.ErrClosed) {
		t.Errorf("Clear of the old one: %v", err)
	}
	if got, err := store.Generation(next.id()); err != nil || got != next.Generation().Number {
		t.Errorf("the number is %d, %v, want %d", got, err, next.Generation().Number)
	}
	if err := next.Clear(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Generation(next.id()); err != nil || got != next.Generation().Number || got == old.Generation().Number {
		t.Errorf("after Clear the number is %d, %v, want %d", got, err, next.Generation().Number)
	}
}

// However many namespaces there are, each has its generation again when it is opened again, and
// what was forgotten is given back.
func TestManyNamespaces(t *testing.T) {
	store := openStore(t)
	n := new(Namespaces)
	shape := n.Shape("", 0, "")
	open := func(i int) *Namespace {
		s, err := n.Open(store, fmt.Sprint("namespace ", i), shape, Terms{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const many = 20_000
	numbers := make([]uint64, many)
	for i := range numbers {
		s := open(i)
		if numbers[i] = s.Generation().Number; i%2 == 0 {
			n.Close(s)
		}
	}
	for i := range numbers {
		if got := open(i).Generation().Number; got != numbers[i] {
			t.Fatalf("namespace %d has the generation %d, want %d", i, got, numbers[i])
		}
	}
	for n.Len() > 0 {
		runtime.GC()
		runtime.Gosched()
	}
	s := open(0)
	if open(0) != s {
		t.Error("a namespace in use was forgotten")
	}
	runtime.KeepAlive(s)
}
