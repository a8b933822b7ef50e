package firn

import "github.com/firncache/firn/internal/shared"

// SharedTier is a tier on a server that the caches of several processes share. Package
// github.com/firncache/firn/remote makes it: remote.Open.
type SharedTier = shared.Tier
