package firn

import "github.com/firncache/firn/internal/inside"

func init() {
	inside.Of = func(cache any, segments []byte) inside.Inside {
		return cache.(*Cache).store.Inside(segments)
	}
}
