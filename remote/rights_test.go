package remote_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/servertest"
)

// documentedRights are what docs/SHARED.md says that a user needs, for the keys of caches.
func documentedRights(t *testing.T) (rights []string) {
	t.Helper()
	doc, err := os.ReadFile("../docs/SHARED.md")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(doc), "\n    ACL SETUSER shop ")
	line, _, _ = strings.Cut(line, "\n")
	for _, right := range strings.Fields(line) {
		if strings.HasPrefix(right, "~") {
			right = "~caches:*"
		}
		rights = append(rights, right)
	}
	if !slices.Contains(rights, "~caches:*") || !slices.Contains(rights, "-@all") {
		t.Fatalf("docs/SHARED.md gives a user %q", rights)
	}
	return rights
}

// grant makes a user with rights.
func grant(t *testing.T, s *servertest.Server, user string, rights []string) {
	t.Helper()
	for _, right := range rights {
		if r, err := s.Try("ACL", "SETUSER", user, right); err != nil || r.Error {
			t.Fatalf("%s: %v, %s", right, err, r.Text)
		}
	}
}

// With the rights that the documentation lists everything can be done, and the server refuses
// nothing.
func TestDocumentedRights(t *testing.T) {
	servertest.Each(t, func(t *testing.T, b servertest.Binary) {
		s := servertest.Start(t, servertest.Options{Binary: b})
		grant(t, s, "shop", documentedRights(t))
		a := cache(t, s.Addr, remote.Options{Username: "shop", Password: "secret"})
		useAll(t, a)
		if n := a.Stats().Shared; n.Errors != 0 || !n.Tracking {
			t.Errorf("%+v", n)
		}
		if log := s.Do("ACL", "LOG"); len(log.Items) != 0 {
			t.Errorf("refused: %+v", log)
		}
	})
}

// useAll makes every kind of request.
func useAll(t *testing.T, c *firn.Cache) {
	t.Helper()
	ctx, key := t.Context(), []byte("k")
	typed, err := firn.NewTyped(c, "t", firn.TypedOptions[int, int]{})
	if err != nil {
		t.Fatal(err)
	}
	load := func(context.Context, []byte) ([]byte, error) { return []byte("loaded"), nil }
	fail := func(context.Context, []byte) ([]byte, error) { return nil, os.ErrInvalid }
	for name, use := range map[string]func() error{
		"Set":            func() error { return c.SetWith(ctx, key, []byte("v"), firn.SetOptions{}) },
		"SetMulti":       func() error { return c.SetMulti(ctx, [][]byte{key}, [][]byte{{1}}) },
		"Delete":         func() error { return c.DeleteMulti(ctx, key) },
		"DeleteMulti":    func() error { return c.DeleteMulti(ctx, [][]byte{key}...) },
		"Clear":          func() error { return c.Clear(ctx) },
		"GetMulti":       func() error { return c.GetMulti(ctx, new(firn.Batch), [][]byte{key, {1}}) },
		"Touch":          func() error { _, err := c.Touch(ctx, key, firn.Forever); return err },
		"Increment":      func() error { _, err := c.Increment(ctx, []byte("n"), 1); return err },
		"GetAndDelete":   func() error { _, err := c.GetAndDelete(ctx, nil, []byte("n")); return allow(err, firn.ErrNotFound) },
		"GetOrLoad":      func() error { _, err := c.GetOrLoad(ctx, nil, []byte("l"), load); return err },
		"failing load":   func() error { _, err := c.GetOrLoad(ctx, nil, []byte("f"), fail); return allow(err, os.ErrInvalid) },
		"Refresh":        func() error { _, err := c.Refresh(ctx, nil, []byte("l"), load); return err },
		"tagged":         func() error { return typed.SetWith(ctx, 1, 1, firn.SetOptions{Tags: []string{"a"}}) },
		"InvalidateTag":  func() error { return typed.InvalidateTag(ctx, "a") },
		"typed Clear":    func() error { return typed.Clear(ctx) },
		"CompareAndSwap": func() error { _, err := c.CompareAndSwap(ctx, key, []byte("v"), []byte("w")); return err },
	} {
		for range 2 {
			if err := use(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// allow is err, unless it is one that is expected.
func allow(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
