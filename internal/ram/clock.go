package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/clock"
)

// slack is how far, in milliseconds, the coarse time may lag behind: twenty ticks.
// The goroutine that keeps it needs a processor for a moment each time. With all of
// them busy the worst that was measured was 350 ms, and more only in a process that
// was itself hardly let run. Reads pay for the slack: of a value that has less than
// that to live, the exact time is read.
const slack = 1000

// times reports whether a deadline has passed, mostly without reading the exact time,
// which costs more than the rest of a Get. Deadlines are in milliseconds and never
// 0. One below 0 has always passed, for the time is above 0.
type times struct {
	now    func() int64  // the exact time
	coarse *atomic.Int64 // a recent time, or clock.Unknown
	keeper *clock.Coarse // nil: the coarse time is not kept
}

// newTimes compares deadlines with now, or with the process's time if that is nil.
// Without ticking no coarse copy of a given now is kept, and every comparison is exact. The
// coarse copy runs ahead by lead milliseconds: the exact time is read that much earlier.
func newTimes(now func() int64, ticking bool, lead int64) times {
	if now == nil {
		now, ticking = clock.Millis, true
		if lead == 0 {
			return times{now, &clock.Process.Time, clock.Process}
		}
	}
	c := clock.New(func() int64 { return now() + lead })
	if !ticking {
		return times{now, &c.Time, nil}
	}
	return times{now, &c.Time, c}
}

// near reports whether a deadline may have passed: if so, the exact time decides.
func (c *times) near(deadline int64) bool { return deadline <= c.coarse.Load()+slack }

// expired reports whether a deadline has passed.
func (c *times) expired(deadline int64) bool { return c.near(deadline) && deadline <= c.now() }

// join has the coarse time kept, until leave.
func (c *times) join() {
	if c.keeper != nil {
		c.keeper.Join()
	}
}

func (c *times) leave() {
	if c.keeper != nil {
		c.keeper.Leave()
	}
}

// SlideParts is how many times a deadline moves in the time that it slides, at most.
const SlideParts = 16

// sliding is by how much deadlines slide, in milliseconds; 0: not at all.
type sliding struct{ life, slack int64 }

func newSliding(life int64) sliding { return sliding{life, life / SlideParts} }

// lead is how far the coarse time runs ahead.
func (s sliding) lead() int64 { return s.life - s.slack }
