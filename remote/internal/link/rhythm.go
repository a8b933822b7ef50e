package link

import "time"

// Rhythm is the heartbeat's times, which follow from Options.Staleness.
type Rhythm struct {
	Interval time.Duration // between PINGs
	Silence  time.Duration // after which a connection without a sign of life is lost
	Tick     time.Duration // of Trust's clock
	MinRetry time.Duration // about the pause after an attempt to connect, doubled each time
	MaxRetry time.Duration // so that copies are trusted within Staleness when a server is there again
	Bound    time.Duration // Staleness less what Trust's clock may be late
}

// RhythmOf is that of a bound.
func RhythmOf(staleness time.Duration) Rhythm {
	tick := min(max(staleness/50, time.Millisecond), 20*time.Millisecond)
	return Rhythm{
		Interval: min(staleness/5, time.Second),
		Silence:  min(max(staleness, time.Second), 5*time.Second),
		Tick:     tick,
		MinRetry: min(staleness/4, 50*time.Millisecond),
		MaxRetry: min(staleness/2, time.Second),
		Bound:    staleness - 2*tick - time.Millisecond, // it counts whole milliseconds
	}
}

// Retry is the pause after an attempt, from that before it.
func (r Rhythm) Retry(before time.Duration) time.Duration {
	return min(max(2*before, r.MinRetry), r.MaxRetry)
}
