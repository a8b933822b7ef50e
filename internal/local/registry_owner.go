package local

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/registry"
)

// registryOwner is where the registry is: in the SSD tier's memory, so that it outlives the
// process as that tier's index does; with RAM alone in memory of its own, once it is needed.
// It does not keep the store from being collected.
type registryOwner struct {
	table  atomic.Pointer[registry.Table]
	places int
	own    atomic.Pointer[registry.Table] // the one with memory of its own
}

// free gives the memory of a registry of its own back.
func (o *registryOwner) free() {
	if t := o.own.Load(); t != nil {
		t.Free()
	}
}

// bytes is how much memory of its own the registry takes.
func (o *registryOwner) bytes() int64 {
	if t := o.own.Load(); t != nil {
		return int64(registry.Bytes(t.Places()))
	}
	return 0
}
