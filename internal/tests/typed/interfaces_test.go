package typed

import (
	"context"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// store is an interface of a program's that does not name firn.
type store[K comparable, V any] interface {
	Get(key K) (V, bool)
	Set(key K, v V) error
	SetWithTTL(key K, v V, ttl time.Duration) error
	Delete(key K) error
	GetOrLoad(ctx context.Context, key K, load func(ctx context.Context, key K) (V, error)) (V, error)
	Refresh(ctx context.Context, key K, load func(ctx context.Context, key K) (V, error)) (V, error)
	SetMulti(ctx context.Context, keys []K, values []V) error
	DeleteMulti(ctx context.Context, keys ...K) error
	Clear(ctx context.Context) error
}

// A typed cache of its own Cache fits such an interface, and New's error is that of Open, or of NewTyped.
func TestNew(t *testing.T) {
	c, err := firn.New[int64, string](1 << 20)
	harness.Must(t, err)
	var s store[int64, string] = c
	harness.Must(t, s.Set(1, "one"))
	if v, err := s.GetOrLoad(t.Context(), 1, nil); v != "one" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := firn.New[int64, string](1); err == nil {
		t.Error("a byte: no error")
	}
	if _, err := firn.New[int64, any](1 << 20); err == nil {
		t.Error("values of type any: no error")
	}
}
