//go:build !linux

package remote

import "time"

// bootNanos is a clock that is never set. While the machine is suspended it may stand still: what
// was trusted before may be for the bound's time afterwards.
func bootNanos() int64 { return int64(time.Since(started)) }

var started = time.Now()
