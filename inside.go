package firn

import (
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

func init() {
	inside.Of = func(cache any, segments []byte) inside.Inside {
		return cache.(*Cache).store.Inside(segments)
	}
	inside.OpenToReplay = func(options any) (any, error) {
		return open(options.(Options), func(cfg *tiered.Config) { cfg.Simulation = ram.ReplaySimulation() })
	}
}
