//go:build !race && !amd64 && !arm64

package offheap

import "sync/atomic"

// Go's atomic read-modify-writes are sequentially consistent everywhere, so
// one on a shared word is a full fence: slow, and right on every architecture.
var fence atomic.Uint32

// LoadFence keeps loads before it ahead of loads after it.
func LoadFence() { fence.Add(0) }

// StoreFence keeps stores before it ahead of stores after it.
func StoreFence() { fence.Add(0) }

// StoreRelease32 stores v so that a reader of it also sees every earlier store.
func StoreRelease32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 stores v so that a reader of it also sees every earlier store.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }
