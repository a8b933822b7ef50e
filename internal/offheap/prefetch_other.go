//go:build race || !(amd64 || arm64)

package offheap

// Prefetch is a hint that this build does not give.
func (r *Region) Prefetch(off uint64) {}

// PrefetchRange is a hint that this build does not give.
func (r *Region) PrefetchRange(off, n uint64) {}

// PrefetchAll is a hint that this build does not give.
func (r *Region) PrefetchAll(offs []uint64, n uint64) {}

// PrefetchValue is a hint that this build does not give.
func PrefetchValue[T any](p *T) {}
