package firn

import (
	"time"

	"github.com/firncache/firn/internal/tiered"
)

// Forever is the time to live of a value that never expires.
const Forever time.Duration = tiered.Forever

// ttl is how long values live that are stored without a time to live of their own.
func (o *Options) ttl() time.Duration {
	if o.TTL == 0 {
		return Forever
	}
	return o.TTL
}
