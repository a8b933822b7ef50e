package typed

import (
	"context"
	"testing"

	"github.com/firncache/firn"
)

func newTyped[K comparable, V any](t *testing.T, c *firn.Cache, namespace string) *firn.Typed[K, V] {
	t.Helper()
	typed, err := firn.NewTyped(c, namespace, firn.TypedOptions[K, V]{})
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

// loader is a source that counts how often it is asked, and names tags.
type loader struct {
	calls int
	tags  []string
	err   error
	named error // what SetLoadTags returned
	ask   func()
}

func (l *loader) load(ctx context.Context, key string) (string, error) {
	l.calls++
	if l.ask != nil {
		l.ask()
	}
	l.named = firn.SetLoadTags(ctx, l.tags...)
	return "value of " + key, l.err
}
