package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
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
// of the same length even, are made odd, and stay: see package ram. A group whose own deadlines
// slide moves them itself: Slide. In a cache that moves even ones, what such a group or one that
// refreshes stores is odd, and the next bit says the same.
type lifetimes struct {
	jitter       float64 // the share of a TTL that chance takes away
	refreshAhead int64   // of its deadline a value needs a refresh, in milliseconds; 0: never
	slide        int64   // the TTL that slides in RAM, in milliseconds; 0: none
	idle         int64   // likewise, of the group's own; 0: none
	mark         int64   // the bit of a deadline that says that it stays, and brings no refresh
}

// Sliding is the time to live of a value that was given none where deadlines slide: as long
// as Config.Slide after the last read. CheckTTL refuses it.
const Sliding = local.Forever - 1

func (o *Config) lifetimes() lifetimes {
	l := lifetimes{jitter: o.TTLJitter, slide: o.SlideMillis(), idle: millis(o.Idle), mark: 1}
	if o.RefreshAfter != 0 {
		l.refreshAhead = max(millis(o.TTL)-millis(o.RefreshAfter), 1)
	}
	if l.slide != 0 && (l.idle != 0 || l.refreshAhead != 0) {
		l.mark = 2
	}
	return l
}

// CheckTTL refuses a time to live that makes no sense.
func CheckTTL(ttl time.Duration) error {
	if ttl < time.Millisecond || ttl > local.MaxTTL && ttl != local.Forever {
		return fmt.Errorf("time to live is %v: want %v to %v, or firn.Forever", ttl, time.Millisecond, local.MaxTTL)
	}
	return nil
}

// Jitters reports whether Jittered takes anything away.
func (l *lifetimes) Jitters() bool { return l.jitter != 0 }

// Jittered takes a random part of a TTL away, except of store.Forever, and leaves what
// CheckTTL takes.
func (l *lifetimes) Jittered(ttl time.Duration) time.Duration {
	if l.jitter == 0 || ttl == local.Forever {
		return ttl
	}
	return max(ttl-time.Duration(rand.Float64()*l.jitter*float64(ttl)), min(ttl, time.Millisecond))
}

// Given is a time to live that a caller gave. Where deadlines slide, one that happens to be Sliding
// is a nanosecond less: CheckTTL refuses that.
func (l *lifetimes) Given(ttl time.Duration) time.Duration {
	if ttl == Sliding && (l.slide != 0 || l.idle != 0) {
		return ttl - 1
	}
	return ttl
}

// Deadline is when a value that is stored now, and lives for ttl, expires, 0 for
// never.
func (l *lifetimes) Deadline(now int64, ttl time.Duration) (int64, error) {
	switch {
	case ttl == Sliding && l.idle != 0:
		return l.flag(now+l.idle, false), nil
	case ttl == Sliding && l.slide != 0:
		return (now + l.slide + 1) &^ 1, nil
	}
	if err := CheckTTL(ttl); err != nil {
		return 0, fmt.Errorf("firn: %w", err)
	}
	if ttl == local.Forever {
		return 0, nil
	}
	life := millis(ttl)
	if l.refreshAhead == 0 && l.slide == 0 && l.idle == 0 {
		return now + life, nil
	}
	return l.flag(now+life, l.refreshAhead == 0 || life <= l.refreshAhead), nil
}

// flag makes a deadline a little later, so that its mark says whether it stays; one that is too
// short to be refreshed ahead does.
func (l *lifetimes) flag(deadline int64, stays bool) int64 {
	want := l.mark - 1
	if stays {
		want += l.mark
	}
	return deadline + (want-deadline)&(2*l.mark-1)
}

// Slides reports whether deadlines move by Slide.
func (l *lifetimes) Slides() bool { return l.idle != 0 }

// Slide is the deadline that a read gives to a live value with this one, if it moves: up to the
// end of the value's life, 0 if that has none. As in package ram, it moves only if that makes it
// later by more than a part of what it slides by.
func (l *lifetimes) Slide(now, deadline, end int64) (to int64, moves bool) {
	if l.idle == 0 || deadline <= now || deadline&l.mark != 0 {
		return deadline, false
	}
	to = l.flag(now+l.idle, false)
	if end != 0 && to >= end {
		to = l.flag(end, true)
		return to, to > deadline
	}
	return to, to-deadline > l.idle/ram.SlideParts+2*l.mark
}

// SlideLead is how long before its deadline a read moves it, at the earliest, in milliseconds:
// Slide, or one in RAM. It is a multiple of 4, so that no mark changes with it; 0 if none moves.
func (l *lifetimes) SlideLead() int64 {
	life := l.idle
	if life == 0 && l.mark == 1 {
		life = l.slide
	}
	return max(life-life/ram.SlideParts-4*l.mark, 0) &^ 3
}

// Stays reports whether a deadline is one that does not slide.
func (l *lifetimes) Stays(deadline int64) bool { return deadline <= 0 || deadline&l.mark != 0 }

// RefreshesAhead reports whether values are refreshed before they expire.
func (l *lifetimes) RefreshesAhead() bool { return l.refreshAhead != 0 }

// RefreshAt is the moment from which a value with this deadline needs a refresh, if
// it ever does.
func (l *lifetimes) RefreshAt(deadline int64) (moment int64, ok bool) {
	return deadline - l.refreshAhead, l.refreshAhead != 0 && deadline > 0 && deadline&l.mark == 0
}
