package firn

import "context"

type LoadFunc func(ctx context.Context, key []byte) ([]byte, error)
type loads struct{}

func (c *Cache) GetOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	return load(ctx, key)
}
