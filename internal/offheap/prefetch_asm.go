//go:build (amd64 || arm64) && !race

package offheap

import "unsafe"

//go:noescape
func prefetch(p unsafe.Pointer)

//go:noescape
func prefetchRange(p unsafe.Pointer, n uint64)

//go:noescape
func prefetchAll(base unsafe.Pointer, offs []uint64, n uint64)

// Prefetch starts to load the cache line at off, and does not wait for it.
func (r *Region) Prefetch(off uint64) { prefetch(unsafe.Add(r.base, off)) }

// PrefetchRange starts to load the cache lines of the n bytes at off. An offset
// that lies elsewhere does no harm.
func (r *Region) PrefetchRange(off, n uint64) { prefetchRange(unsafe.Add(r.base, off), n) }

// PrefetchAll is PrefetchRange of n bytes at each of offs.
func (r *Region) PrefetchAll(offs []uint64, n uint64) { prefetchAll(r.base, offs, n) }

// PrefetchValue starts to load the cache line where a value begins that lies anywhere.
func PrefetchValue[T any](p *T) { prefetch(unsafe.Pointer(p)) }
