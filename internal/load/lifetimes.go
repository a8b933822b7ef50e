package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/internal/tiered"
)

// lifetimes are the options' arithmetic with times to live. A value that lives for
// TTL is refreshed ahead of its deadline when less of its life is left than
// refreshAhead:
//
//	stored                       RefreshAfter        deadline
//	  |------------------------------|-------------------|
//	                                 |<- refreshAhead -->|
//
// A value whose whole life is shorter would be refreshed from the beginning, and
// be loaded over and over. Its deadline is made odd, and those of others even: so
// needsRefresh sees it, on the SSD too, as the clock offset is even.
//
// Where deadlines slide, those of values that live for Sliding are even, and those of others,
// of the same length even, are made odd, and stay: see package ram.
type lifetimes struct {
	jitter       float64 // the share of a TTL that chance takes away
	refreshAhead int64   // of its deadline a value needs a refresh, in milliseconds; 0: never
	slide        int64   // the TTL that slides, in milliseconds; 0: none
}

// Sliding is the time to live of a value that was given none where deadlines slide: as long
// as Config.Slide after the last read. CheckTTL refuses it.
const Sliding = tiered.Forever - 1

func (o *Config) lifetimes() lifetimes {
	l := lifetimes{jitter: o.TTLJitter, slide: o.SlideMillis()}
	if o.RefreshAfter != 0 {
		l.refreshAhead = max(millis(o.TTL)-millis(o.RefreshAfter), 1)
	}
	return l
}

// CheckTTL refuses a time to live that makes no sense.
func CheckTTL(ttl time.Duration) error {
	if ttl < time.Millisecond || ttl > tiered.MaxTTL && ttl != tiered.Forever {
		return fmt.Errorf("time to live is %v: want %v to %v, or firn.Forever", ttl, time.Millisecond, tiered.MaxTTL)
	}
	return nil
}

// Jitters reports whether Jittered takes anything away.
func (l *lifetimes) Jitters() bool { return l.jitter != 0 }

// Jittered takes a random part of a TTL away, except of tiered.Forever, and leaves what
// CheckTTL takes.
func (l *lifetimes) Jittered(ttl time.Duration) time.Duration {
	if l.jitter == 0 || ttl == tiered.Forever {
		return ttl
	}
	return max(ttl-time.Duration(rand.Float64()*l.jitter*float64(ttl)), min(ttl, time.Millisecond))
}

// Deadline is when a value that is stored now, and lives for ttl, expires, 0 for
// never.
func (l *lifetimes) Deadline(now int64, ttl time.Duration) (int64, error) {
	if ttl == Sliding && l.slide != 0 {
		return (now + l.slide + 1) &^ 1, nil
	}
	if err := CheckTTL(ttl); err != nil {
		return 0, fmt.Errorf("firn: %w", err)
	}
	if ttl == tiered.Forever {
		return 0, nil
	}
	life := millis(ttl)
	return l.flag(now+life, life), nil
}

// flag makes the deadline of a value that lives for so many milliseconds odd if that is
// too short for it to be refreshed ahead, or where deadlines slide, and even otherwise.
func (l *lifetimes) flag(deadline, millis int64) int64 {
	odd := deadline&1 == 1
	switch {
	case l.refreshAhead != 0:
		odd = millis <= l.refreshAhead
	case l.slide != 0:
		odd = true
	}
	if odd != (deadline&1 == 1) {
		deadline++
	}
	return deadline
}

// RefreshesAhead reports whether values are refreshed before they expire.
func (l *lifetimes) RefreshesAhead() bool { return l.refreshAhead != 0 }

// RefreshAt is the moment from which a value with this deadline needs a refresh, if
// it ever does.
func (l *lifetimes) RefreshAt(deadline int64) (moment int64, ok bool) {
	return deadline - l.refreshAhead, l.refreshAhead != 0 && deadline > 0 && deadline&1 == 0
}
