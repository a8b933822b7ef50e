package firn

import (
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/typed"
)

// What the page, the command and tests see of a cache beyond its methods.
func init() {
	inside.Of = func(cache any, segments []byte) inside.Inside {
		return cache.(*Cache).store.Inside(segments)
	}
	inside.Keys = func(cache any) []inside.Key { return cache.(*Cache).readKeys() }
	inside.OpenToReplay = func(options any) (any, error) {
		return open(options.(Options), func(cfg *store.Config) { cfg.Simulation = ram.ReplaySimulation() })
	}
	testseam.Open = func(options any, adjust func(*store.Config)) (any, error) {
		return open(options.(Options), adjust)
	}
	testseam.Store = func(cache any) *store.Store { return &cache.(*Cache).store }
	testseam.Loads = func(cache any) *load.Group { return &cache.(*Cache).loads }
	testseam.DropHot = func(cache any) {
		c := cache.(*Cache)
		c.typed.hot.Limit(0)
		c.typed.hot.Limit(c.store.RAMBytes() / hotShare)
	}
	testseam.Namespaces = func(cache any) int { return cache.(*Cache).typed.spaces.Len() }
}

// readKeys are keys of reads that RAM answered, by their namespaces.
func (c *Cache) readKeys() (keys []inside.Key) {
	names := map[string]string{}
	for _, n := range c.typed.spaces.All() {
		names[string(n.Generation().Append(nil))] = n.Label
	}
	for _, key := range c.store.ReadKeys() {
		k := inside.Key{Bytes: string(key)}
		if n := coherence.GenerationLen; len(key) >= n && names[k.Bytes[:n]] != "" {
			k.Namespace, k.Bytes = names[k.Bytes[:n]], k.Bytes[n:]
		}
		keys = append(keys, k)
	}
	return keys
}

// The public constants are those of the rooms below: an index other than 0 does not compile.
var (
	_ = [1]int{}[MinRAMBytes-ram.MinBytes]
	_ = [1]int{}[MinSSDBytes-ssd.MinBytes]
	_ = [1]int{}[MinRAMBytesWithSSD-ssd.MinMemory]
	_ = [1]int{}[MaxTags-typed.MaxTags]
	_ = [1]int{}[Forever-local.Forever]
	_ = [1]int{}[CauseInvalidated-Cause(evicted.Invalidated)]
	_ = [1]int{}[CauseSSDEvicted-Cause(evicted.LowerEvicted)]
	_ = [1]int{}[AdmitSeen-Admission(ssd.AdmitSeen)] + [1]int{}[AdmitRead-Admission(ssd.AdmitRead)] + [1]int{}[AdmitAll-Admission(ssd.AdmitAll)]
	_ = [1]int{}[DirectAuto-DirectIO(ssd.DirectAuto)] + [1]int{}[DirectOff-DirectIO(ssd.DirectOff)]
	_ = [1]int{}[RecoverSafe-Recovery(ssd.RecoverSafe)] + [1]int{}[RecoverNever-Recovery(ssd.RecoverNever)]
)
