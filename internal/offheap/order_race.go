//go:build race

package offheap

import "sync/atomic"

// In race builds every byte moves by sequentially consistent atomics (see
// copy_race.go), so the fences have nothing left to order. They must not be
// atomics themselves: those would hide races by synchronizing everyone.

// LoadFence keeps loads before it ahead of loads after it.
func LoadFence() {}

// StoreFence keeps stores before it ahead of stores after it.
func StoreFence() {}

// StoreRelease32 stores v so that a reader of it also sees every earlier store.
func StoreRelease32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 stores v so that a reader of it also sees every earlier store.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }
