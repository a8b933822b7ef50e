//go:build !race

package offheap

import (
	"sync/atomic"
	"unsafe"
)

// amd64 keeps loads in order with loads and stores in order with stores, so
// the fences are empty and a release store is a plain one. The compiler does
// not reorder stores, nor loads across an atomic load.

// LoadFence keeps loads before it ahead of loads after it.
func LoadFence() {}

// StoreFence keeps stores before it ahead of stores after it.
func StoreFence() {}

// StoreRelease32 stores v so that a reader of it also sees every earlier store.
func StoreRelease32(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// StoreRelease64 stores v so that a reader of it also sees every earlier store.
func StoreRelease64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }
