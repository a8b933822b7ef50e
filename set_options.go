package firn

import (
	"time"

	"github.com/firncache/firn/internal/load"
)

// SetOptions are those of one SetWith. The zero SetOptions make it a Set.
type SetOptions struct {
	// TTL is the value's time to live, to the millisecond, or Forever. Default
	// 0: TypedOptions.TTL, or Options.TTL for a Cache.
	TTL time.Duration

	// Tags name what the value was made of, so that InvalidateTag finds it: at most MaxTags, each
	// of 1 to 255 bytes. They belong to the namespace. Each makes the entry 4 bytes longer, the
	// first one 25; with a shared tier 12, and 25. Default: none.
	Tags []string
}

// ttl is the time to live that a Set of a group has with these options.
func (o *SetOptions) ttl(of *load.Group) time.Duration {
	if o.TTL != 0 {
		return of.Given(o.TTL)
	}
	return of.Jittered(of.TTL())
}
