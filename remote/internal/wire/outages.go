package wire

import (
	"sync"
	"time"
)

// outages are counted, so that the log has the beginning and the end of a few in a minute.
type outages struct {
	mu     sync.Mutex
	since  int64 // the first of the minute, in clock.Boot
	n      int   // in the minute
	silent bool  // the latest is not logged
}

const maxOutages = 8 // in a minute

// begin reports whether an outage is logged, and whether it is the last one of its minute that is.
func (o *outages) begin(now int64) (log, last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 || now-o.since > int64(time.Minute) {
		o.since, o.n = now, 0
	}
	o.n++
	o.silent = o.n > maxOutages
	return !o.silent, o.n == maxOutages
}

// logged reports whether the latest outage, which ends, is.
func (o *outages) logged() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.silent
}
