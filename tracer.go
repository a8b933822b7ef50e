package firn

import "context"

// Tracer begins spans, as those of OpenTelemetry: package metrics/firnotel has one. Its
// methods, and what they return, are called outside every lock, by many goroutines at once.
type Tracer interface {
	// StartLoad begins the span of one call of a loader, for so many keys, when its turn
	// has come. ctx has the values of the context of the caller who began it; with
	// background nobody waits for it, as for a refresh, and that caller may have gone
	// on. The loader gets the context that it returns, which has to be made from ctx. end is
	// called with the loader's error, which ErrNotFound is no failure of.
	StartLoad(ctx context.Context, keys int, background bool) (loading context.Context, end func(err error))

	// StartSSDRead begins the span of reads of the disk that a caller waits for, for so many
	// records or parts of a value. Calls without a context, as Get, have none, nor have the
	// cache's own reads.
	StartSSDRead(ctx context.Context, records int) (end func(err error))
}
