//go:build !race

package offheap

import "sync/atomic"

// LoadFence keeps loads before it ahead of loads after it (DMB ISHLD). An
// atomic load alone would not do: later loads stay behind it, but the copy's
// earlier loads may be overtaken by it.
//
//go:noescape
func LoadFence()

// StoreFence keeps stores before it ahead of stores after it (DMB ISHST).
//
//go:noescape
func StoreFence()

// StoreRelease32 stores v so that a reader of it also sees every earlier store.
func StoreRelease32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 stores v so that a reader of it also sees every earlier store.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }
