//go:build (amd64 || arm64) && !race

package offheap

import "unsafe"

//go:noescape
func prefetch(p unsafe.Pointer)

// Prefetch starts to load the cache line at off, and does not wait for it.
func (r *Region) Prefetch(off uint64) { prefetch(unsafe.Add(r.base, off)) }
