// Package testseam is how tests and package firntest reach into a cache: package firn says
// here how.
package testseam

import (
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/store"
)

// Open is firn.Open of firn.Options, with a change of the tiers' configuration. It returns a
// *firn.Cache.
var Open func(options any, adjust func(*store.Config)) (cache any, err error)

// Adjust, where it is set, changes the tiers' configuration of each cache that firn.Open opens.
var Adjust func(*store.Config)

// Store is the store of a *firn.Cache, Loads are its loads. Their owner keeps the cache
// reachable.
var (
	Store func(cache any) *store.Store
	Loads func(cache any) *load.Group
)

// Namespaces is how many namespaces of a *firn.Cache are in use.
var Namespaces func(cache any) int

// DropHot empties the tables of a *firn.Cache's hot values, so that reads find what the tiers
// have.
var DropHot func(cache any)
