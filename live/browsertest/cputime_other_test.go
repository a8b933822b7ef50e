//go:build !unix

package browsertest

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
