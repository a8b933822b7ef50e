package firn

import (
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/tiered"
)

// What the page, the command and tests see of a cache beyond its methods.
func init() {
	inside.Of = func(cache any, segments []byte) inside.Inside {
		return cache.(*Cache).store.Inside(segments)
	}
	inside.OpenToReplay = func(options any) (any, error) {
		return open(options.(Options), func(cfg *tiered.Config) { cfg.Simulation = ram.ReplaySimulation() })
	}
	testseam.Open = func(options any, adjust func(*tiered.Config)) (any, error) {
		return open(options.(Options), adjust)
	}
	testseam.Store = func(cache any) *tiered.Store { return &cache.(*Cache).store }
	testseam.Loads = func(cache any) *load.Group { return &cache.(*Cache).loads }
	testseam.Namespaces = func(cache any) int { return cache.(*Cache).typed.spaces.Len() }
}
