package firn

import (
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/tiered"
)

func init() {
	testseam.Open = func(options any, adjust func(*tiered.Config)) (any, error) {
		return open(options.(Options), adjust)
	}
	testseam.Store = func(cache any) *tiered.Store { return &cache.(*Cache).store }
}
