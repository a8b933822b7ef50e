// Package testseam is how package firntest reaches into a cache: package firn says here
// how, and nobody else is told.
package testseam

import "github.com/firncache/firn/internal/tiered"

// Open is firn.Open of firn.Options, with a change of the tiers' configuration. It returns a
// *firn.Cache.
var Open func(options any, adjust func(*tiered.Config)) (cache any, err error)

// Store is the store of a *firn.Cache. Its owner keeps the cache reachable.
var Store func(cache any) *tiered.Store
