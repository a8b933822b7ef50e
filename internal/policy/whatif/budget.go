package whatif

import "time"

// budget bounds the time that the simulation takes. What an event costs is measured, for one of some
// dozens; the time that passes is the cache's.
type budget struct {
	share     float64 // of one processor
	stopwatch func() time.Duration
	cost      float64 // nanoseconds for an event, lately
	total     int     // events
	events    int     // since
	since     int64   // milliseconds
	begun     bool
}

const (
	timedEvents  = 64   // of so many events one is timed
	firstCost    = 1000 // nanoseconds
	mostCost     = 4    // times the cost of late: what takes longer was interrupted
	callCost     = 50   // nanoseconds around an event
	verdict      = 250  // milliseconds after which the share is compared
	verdictEarly = 8192 // or events
	relief       = 0.8  // of its share is what the simulation takes next
)

// count counts an event, and reports whether it is to be timed.
func (b *budget) count() (timed bool) {
	b.total++
	b.events++
	return b.total%timedEvents == 0
}

// took says how long an event took.
func (b *budget) took(d time.Duration) {
	b.cost += (min(max(float64(d), 0), mostCost*(b.cost+callCost)) - b.cost) / 16
}

// factor is the factor for the rates at a time in milliseconds, 0 if there is nothing
// to say yet.
func (b *budget) factor(now int64) float64 {
	if !b.begun || now < b.since {
		b.begun, b.since, b.events = true, now, 0
	}
	if now == b.since || now-b.since < verdict && b.events < verdictEarly {
		return 0
	}
	use := float64(b.events) * (b.cost + callCost) / (1e6 * float64(now-b.since))
	b.events, b.since = 0, now
	if use == 0 {
		return mostChange
	}
	return min(max(relief*b.share/use, 1.0/mostChange), mostChange)
}

// mostChange is how many times smaller or larger a sample becomes at once.
const mostChange = 16
