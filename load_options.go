package firn

import (
	"math/rand/v2"
	"time"
)

// LoadingOptions are what GetOrLoad, GetOrLoadMulti and Refresh can do beyond
// loading what is missing. Durations count to the millisecond. Each is off at 0,
// the default.
//
// An expired value is kept for StaleFor or FailSafe, whichever is longer, to be
// an answer of GetOrLoad and GetOrLoadMulti; no other call sees it. It is never
// stored anew, and may be evicted like any other. A Set, Delete or Clear ends it.
//
//	stored          RefreshAfter              TTL          StaleFor    FailSafe
//	  |------- hit -----|-- hit, and a load ---|-- expired --|-- expired --|
//	                       in the background     and a load    if the load
//	                                             behind it     fails or is late
type LoadingOptions struct {
	// TTLJitter spreads out the deadlines of values that were stored together. It
	// is a share: a value stored with Options.TTL, or with LoadTTL, lives shorter
	// by a random part of its TTL, up to this. At least 0 and below 1. SetWithTTL
	// is exact.
	TTLJitter float64

	// NegativeTTL is how long the ErrNotFound of a loader is remembered.
	// GetOrLoad and GetOrLoadMulti answer ErrNotFound meanwhile, and do not load;
	// all other calls see no value. A Set, Delete or Clear ends it. Each takes the
	// room of an entry without a value, counts in Len, and may be evicted; OnEvict
	// is not told.
	NegativeTTL time.Duration

	// RefreshAfter is the age at which a value that was stored with Options.TTL is
	// loaded anew in the background, when GetOrLoad or GetOrLoadMulti find it;
	// they return the value that is there. It must be less than Options.TTL, by
	// more than jitter may take from that. What counts is the rest of a value's
	// life: it is refreshed when less than TTL - RefreshAfter is left. So jitter
	// moves both moments alike, and a value that was stored with another TTL is
	// refreshed as long before its end, but never if its whole life is shorter
	// than that. With RefreshAfter, deadlines may be a millisecond later. While its
	// loader fails, each caller that finds such a value begins another load of it,
	// if none is under way.
	RefreshAfter time.Duration

	// StaleFor is how long after its deadline a value is still returned by
	// GetOrLoad and GetOrLoadMulti, while one of them loads it anew in the
	// background; if that fails, the next caller does.
	StaleFor time.Duration

	// FailSafe is how long after its deadline a value is returned by GetOrLoad and
	// GetOrLoadMulti if its load fails: with an error other than ErrNotFound, or at
	// HardTimeout; not with a panic. It must be more than StaleFor.
	FailSafe time.Duration

	// SoftTimeout is how long GetOrLoad and GetOrLoadMulti wait for a load if there
	// is a value to return under FailSafe, which they then return. The load goes
	// on in the background. It needs FailSafe.
	SoftTimeout time.Duration

	// HardTimeout is how long a loader may take. Then its context ends, whoever
	// waits for it gets ErrLoadTimeout, or an expired value under FailSafe, and
	// the next caller begins another load. What it returns later is dropped. What
	// it returned in time and the SSD tier holds up is returned. It must be more than SoftTimeout. Time that a loader waits to be called, under
	// MaxLoads, is not counted.
	HardTimeout time.Duration

	// MaxLoads is how many loaders run at a time; a bulk load is one. Others wait
	// their turn, in no order. Loads that a loader asks for with its own context run
	// on its turn, beyond the limit, so that it does not wait for itself.
	// Background refreshes do not wait: if there is no room, the next caller
	// tries again. A loader that outlives HardTimeout takes room until it returns.
	MaxLoads int
}

// loading is LoadingOptions, in the clock's milliseconds.
type loading struct {
	LoadingOptions
	negativeTTL  int64
	staleFor     int64
	failSafe     int64
	refreshAhead int64 // of its deadline a value is due; 0: never
}

// grace is how long an expired value can be an answer.
func (l *loading) grace() int64 { return max(l.staleFor, l.failSafe) }

// validate refuses what makes no sense.
func (o *LoadingOptions) validate(ttl time.Duration) error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"NegativeTTL", o.NegativeTTL}, {"RefreshAfter", o.RefreshAfter}, {"StaleFor", o.StaleFor},
		{"FailSafe", o.FailSafe}, {"SoftTimeout", o.SoftTimeout}, {"HardTimeout", o.HardTimeout},
	} {
		if f.value < 0 || f.value > maxTTL {
			return badOption("Loading."+f.name, "is %v: want 0, or up to %v", f.value, maxTTL)
		}
	}
	jitter := time.Duration(o.TTLJitter * float64(ttl))
	switch {
	case !(o.TTLJitter >= 0 && o.TTLJitter < 1): // NaN too
		return badOption("Loading.TTLJitter", "is %v: want at least 0 and below 1", o.TTLJitter)
	case o.RefreshAfter != 0 && ttl == 0:
		return badOption("Loading.RefreshAfter", "is %v, and TTL is 0: values do not grow old", o.RefreshAfter)
	case o.RefreshAfter != 0 && o.RefreshAfter >= ttl-time.Millisecond:
		return badOption("Loading.RefreshAfter", "is %v: want less than TTL, %v", o.RefreshAfter, ttl)
	case o.RefreshAfter != 0 && o.RefreshAfter <= jitter+time.Millisecond:
		return badOption("Loading.RefreshAfter", "is %v: want more than TTLJitter takes from TTL, %v", o.RefreshAfter, jitter)
	case o.FailSafe != 0 && o.FailSafe <= o.StaleFor:
		return badOption("Loading.FailSafe", "is %v: want more than StaleFor, %v", o.FailSafe, o.StaleFor)
	case o.SoftTimeout != 0 && o.FailSafe == 0:
		return badOption("Loading.SoftTimeout", "is %v, and FailSafe is 0: there is nothing to answer with", o.SoftTimeout)
	case o.HardTimeout != 0 && o.HardTimeout <= o.SoftTimeout:
		return badOption("Loading.HardTimeout", "is %v: want more than SoftTimeout, %v", o.HardTimeout, o.SoftTimeout)
	case o.MaxLoads < 0 || o.MaxLoads > mostLoads:
		return badOption("Loading.MaxLoads", "is %d: want 0 for no limit, or up to %d", o.MaxLoads, mostLoads)
	}
	return nil
}

// mostLoads is a limit that is none.
const mostLoads = 1 << 30

// loading is Options.Loading, checked, for a cache.
func (o *Options) loading() loading {
	millis := func(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
	l := loading{
		LoadingOptions: o.Loading,
		negativeTTL:    millis(o.Loading.NegativeTTL),
		staleFor:       millis(o.Loading.StaleFor),
		failSafe:       millis(o.Loading.FailSafe),
	}
	if o.Loading.RefreshAfter != 0 {
		l.refreshAhead = max(millis(o.TTL)-millis(o.Loading.RefreshAfter), 1)
	}
	return l
}

// jittered takes a random part of a TTL away.
func (c *Cache) jittered(ttl time.Duration) time.Duration {
	if c.loading.TTLJitter == 0 {
		return ttl
	}
	return ttl - time.Duration(rand.Float64()*c.loading.TTLJitter*float64(ttl))
}
