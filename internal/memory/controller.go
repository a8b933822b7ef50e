package memory

import "time"

// Sample is what a Controller decides by, in bytes.
type Sample struct {
	Limit   int64 // of the process
	Free    int64 // what is left of it for all caches beyond what they hold, below 0 if they hold too much
	Stalled bool  // processes have waited for memory
}

// NewSample is the sample of one look at the system: what is left, less what Go's heap
// will still take until its next collection, and less a sixteenth of the limit, which a
// neighbor may take between two looks. waited is for how long processes have waited for
// memory since the look before, passed ago.
func NewSample(u Usage, goGrowth int64, waited, passed time.Duration) Sample {
	return Sample{u.Limit, u.Available - goGrowth - u.Limit/16, waited > passed/20}
}

// tight reports whether the next look should come soon.
func (s *Sample) tight() bool { return s.Stalled || s.Free < s.Limit/8 }

// State is the memory of one cache, in bytes.
type State struct {
	Budget      int64 // what it may hold
	Resident    int64 // what it holds
	Least, Most int64 // that its budget may be
}

// Controller finds the budget of one cache. A cache fills its budget at any time, so a
// budget is safe if the part of it that the cache does not hold yet is free.
type Controller struct {
	Calm time.Duration // for how long nothing must be tight before the budget grows

	calm time.Duration // since memory was tight
}

// Next is the budget after a sample that was taken passed after the one before. share is
// the cache's part of what is free. The budget shrinks at once, by what is missing, and
// by a sixteenth of its range if processes wait for memory. It grows after Calm
// without that, by at most a quarter of its range a look. Between the two lies a
// thirty-second of the limit, so that it does not swing.
func (c *Controller) Next(s Sample, passed time.Duration, of State, share float64) int64 {
	budget, span := of.Budget, of.Most-of.Least
	safe := of.Resident + int64(float64(s.Free)*share)
	if s.Stalled {
		safe = min(safe, budget-span/16)
	}
	if safe < budget {
		budget, c.calm = safe, 0
	} else if c.calm += passed; c.calm >= c.Calm {
		room := safe - int64(float64(s.Limit/32)*share)
		budget = max(budget, min(room, budget+span/4))
	}
	return min(max(budget, of.Least), of.Most)
}
