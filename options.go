package firn

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/firncache/firn/internal/enumtext"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/memory"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/store"
)

// MinRAMBytes is the smallest RAM budget.
const MinRAMBytes = 64 << 10

// MemoryLimit is how much memory the process may use, in bytes: what the machine has, or the least
// limit of its control groups; 0 where it is not known, as on any system but Linux.
func MemoryLimit() int64 {
	limit, _ := memory.Limit()
	return limit
}

// errBeyondLimit is the error of a budget that the process cannot use, or nil.
func errBeyondLimit(bytes int64) error {
	if limit, file := memory.Limit(); limit > 0 && bytes > limit {
		return fmt.Errorf("want at most %d bytes, the limit of this process by %s", limit, file)
	}
	return nil
}

// Options describe a cache. Only RAMBytes is required.
type Options struct {
	// RAMBytes is the memory that the cache may use, in bytes: records, index and bookkeeping. At
	// least MinRAMBytes, at most MemoryLimit. It is not part of Go's heap, and GOMEMLIMIT does not
	// count it: in a container, leave room for the heap beside it, or set LeastRAMBytes.
	RAMBytes int64

	// LeastRAMBytes makes the RAM budget follow the memory that the control group, or the machine,
	// has left: between this, at least RAMBytes/16, and RAMBytes, in bytes. It shrinks while less
	// than a sixteenth of the limit is free, and grows again after a minute without that. Caches of
	// one process share what is free. It needs Linux. Default 0: SetRAMBytes alone changes the
	// budget.
	LeastRAMBytes int64

	// MaxRAMBytes is the most that SetRAMBytes may set later, in bytes. Default, where address
	// space costs nothing (Linux, macOS, BSD): four times RAMBytes, but at least 1 GiB, and at
	// most 32 GiB or RAMBytes, whichever is more; otherwise RAMBytes. Bookkeeping takes about 0.05
	// % of it.
	MaxRAMBytes int64

	// Log gets what an operator should know, one line for many events, as of a disk that fails or
	// values that cannot be stored. Default: slog.Default().
	Log *slog.Logger

	// SSD is the second tier, for entries that RAM has no room for. Default: none.
	SSD SSDOptions

	// Shared is the tier below RAM and SSD that the caches of several processes share, on a Redis
	// or Valkey server: remote.Open of module github.com/firncache/firn/remote makes it. It serves
	// one cache, which closes it; an Open that fails has not begun to use it. Default: none.
	Shared SharedTier

	// TTL is how long values stored with Set live, to the millisecond; less than one is an error,
	// as 60 is, which is 60 ns. Default, and with Forever: they never expire.
	TTL time.Duration

	// ExpireAfterAccess makes values expire when they have not been read for so long, to the
	// millisecond: those that are stored without a time to live of their own, by Set, SetMulti and
	// loads. Reads that return a value move its deadline, by more than 1/16 of this or not at all,
	// so that few reads write: it lives for at least 15/16 of it. It excludes TTL, Shared,
	// Loading.RefreshAfter and Loading.TTLJitter. Default 0: reads move nothing.
	ExpireAfterAccess time.Duration

	// Loading extends GetOrLoad, GetOrLoadMulti and Refresh. Default: nothing.
	Loading LoadingOptions

	// OnEvict is called for every entry that leaves, after it has left, but not by Close. It runs
	// outside every lock, perhaps several at once, in the goroutine whose call made the entry
	// leave, which waits for it, in a load's, or in the cache's for expired ones; it may use the
	// cache. Key and value are lent until it returns. With an SSD tier, an entry that goes there
	// has not left. Default: nil, and then nothing is spent on it.
	OnEvict func(key, value []byte, cause Cause)

	// OnEvictCauses are the causes for which OnEvict is called. Default, nil: all but CauseDemoted
	// and CauseSSDEvicted.
	//
	// CauseDemoted is for an entry that RAM had no room for and the SSD tier has; it may come
	// back. CauseSSDEvicted, or CauseExpired, is for an entry that the SSD tier alone had, when
	// its segment is reclaimed: that reads once more about what is written there, and while
	// OnEvict takes its time, no further segment is reclaimed. It is not called for what dies
	// there otherwise.
	//
	// With a shared tier what leaves is a copy: for other causes than CauseReplaced, CauseDeleted
	// and CauseInvalidated the entry lives on there. OnEvict for CauseInvalidated runs in a
	// goroutine of the cache's, perhaps after the key has another value.
	OnEvictCauses []Cause

	// Off switches caching off: reads find nothing, writes succeed, loads run, and nothing is
	// kept. The cache takes MinRAMBytes; Open closes Shared. Of Loading it has HardTimeout,
	// CancelUnwanted and MaxLoads.
	Off bool

	// WhatIf says whether the cache simulates itself at other sizes, for Cache.Curve. Default:
	// WhatIfOn, from RAMBytes of 6.25 MiB on.
	WhatIf WhatIf

	// Tracer begins spans for loads and for reads of the SSD. Default: none.
	Tracer Tracer

	// Clock is the time by which values expire. Only differences matter, except with an SSD tier.
	// It must be fast, and must not call the cache: some callers hold locks. Default: the system's
	// monotonic clock and the time that the machine was suspended, read 20 times a second; in a
	// bubble of testing/synctest, the bubble's.
	Clock func() time.Time
}

// LoadingOptions extend GetOrLoad, GetOrLoadMulti and Refresh beyond loading missing values.
// Durations count to the millisecond, and less than one is an error. Each is off at 0, except
// RetryAfter and HardTimeout.
//
// An expired value is kept for StaleWhileRevalidate or StaleIfError, whichever is longer, to be an
// answer of GetOrLoad and GetOrLoadMulti; no other call sees it. It may be evicted like any other.
// A Set, Delete or Clear ends it.
//
//	stored          RefreshAfter           TTL      StaleWhileRevalidate   StaleIfError
//	  |------ hit ------|-- hit, and a load --|-- expired, and ---|-- expired, --|
//	                        in the background     a load in the      if the load
//	                                              background         fails or is late
type LoadingOptions struct {
	// TTLJitter spreads out the deadlines of values that were stored together: each lives shorter
	// by a random part of its TTL, up to this share, at least 0 and below 1. SetWithTTL is exact.
	TTLJitter float64

	// NegativeTTL is how long the ErrNotFound of a loader is remembered: GetOrLoad and
	// GetOrLoadMulti return it meanwhile, and do not load; all other calls see no value. A write
	// ends it. It takes the room of an entry without a value, and may be evicted, without OnEvict.
	// Other errors of a source, such as sql.ErrNoRows, are not remembered: a loader returns
	// firn.ErrNotFound, wrapped if it likes.
	NegativeTTL time.Duration

	// ErrorTTL is how long another error of a loader is remembered, ErrLoadTimeout too, but no
	// panic: callers of GetOrLoad and GetOrLoadMulti that find no value get it. Of the last 64
	// keys in each of 64 shards, beside the RAM budget. A load that succeeds ends it, as Refresh
	// has one at once; writes do not.
	ErrorTTL time.Duration

	// RefreshAfter is the age at which a value that was stored with Options.TTL is loaded again in
	// the background, when GetOrLoad or GetOrLoadMulti find it; they return the value that is
	// there. It must be less than Options.TTL, by more than jitter may take. What counts is the
	// rest of a value's life: it is refreshed when less than TTL - RefreshAfter is left, and never
	// if its whole life is shorter. If the load fails, another begins with the next caller after
	// RetryAfter.
	RefreshAfter time.Duration

	// StaleWhileRevalidate is how long after its deadline a value is still returned by GetOrLoad
	// and GetOrLoadMulti, while one of them loads it again in the background; if that fails, the
	// next caller after RetryAfter does. As StaleIfError, it needs a time to live.
	StaleWhileRevalidate time.Duration

	// StaleIfError is how long after its deadline a value is returned by GetOrLoad and
	// GetOrLoadMulti if its load fails: with an error other than ErrNotFound, or at HardTimeout;
	// not with a panic. It must be more than StaleWhileRevalidate.
	StaleIfError time.Duration

	// RetryAfter is the pause after a load that failed, or panicked, of a key with a value:
	// meanwhile no load of it begins in the background, and StaleIfError returns at once. Of the
	// last failures, as with ErrorTTL. Default 0: one second; a millisecond is as good as none.
	RetryAfter time.Duration

	// SoftTimeout is how long GetOrLoad and GetOrLoadMulti wait for a load if there is a value to
	// return under StaleIfError, which they then return. The load goes on. It needs StaleIfError.
	SoftTimeout time.Duration

	// HardTimeout is how long a loader may take, whether or not a caller waits for it; its waits
	// for a turn under MaxLoads, the shared tier or another process do not count. Then its context
	// ends, its callers get ErrLoadTimeout, or an expired value under StaleIfError, and the next
	// caller begins another load. A value returned later is dropped. It must be more than
	// SoftTimeout. Default 0: 30 seconds; Forever: without end.
	HardTimeout time.Duration

	// CancelUnwanted has a load cancelled when every caller that waits for it has left; a bulk
	// load, when all callers of all its keys have. Default: it goes on, and its value is stored,
	// so that callers which wait for less than a load takes come to an end; unless it still waits
	// for its turn under MaxLoads, or its key was written.
	CancelUnwanted bool

	// MaxLoads is how many loaders run at a time; a bulk load is one. Others wait their turn, in
	// no order; background refreshes do not wait, and the next caller tries again. Loads that a
	// loader begins with its own context run on its turn. A loader that outlives HardTimeout takes
	// room until it returns. Default 0: no limit.
	MaxLoads int
}

// Forever is the time to live of a value that never expires.
const Forever time.Duration = math.MaxInt64

const maxTTL = local.MaxTTL

// Validate returns the error that Open would return for the options, without opening
// anything: nil, or an error that is an [OptionError].
func (o Options) Validate() error {
	switch {
	case o.RAMBytes < MinRAMBytes:
		return badOption("RAMBytes", "is %d: want at least %d bytes", o.RAMBytes, MinRAMBytes)
	case o.RAMBytes > ram.MaxBytes:
		return badOption("RAMBytes", "is %d: want at most %d bytes", o.RAMBytes, int64(ram.MaxBytes))
	case o.LeastRAMBytes != 0 && (o.LeastRAMBytes < max(o.RAMBytes/16, MinRAMBytes) || o.LeastRAMBytes > o.RAMBytes):
		return badOption("LeastRAMBytes", "is %d: want 0, or %d to RAMBytes, %d", o.LeastRAMBytes, max(o.RAMBytes/16, MinRAMBytes), o.RAMBytes)
	case o.MaxRAMBytes != 0 && (o.MaxRAMBytes < o.RAMBytes || o.MaxRAMBytes > ram.MaxBytes):
		return badOption("MaxRAMBytes", "is %d: want 0, or RAMBytes (%d) to %d bytes", o.MaxRAMBytes, o.RAMBytes, int64(ram.MaxBytes))
	case o.TTL != Forever && !isDuration(o.TTL):
		return badOption("TTL", "is %v: want 0, %s, or firn.Forever", o.TTL, wantDuration)
	case len(o.OnEvictCauses) > 0 && o.OnEvict == nil:
		return badOption("OnEvictCauses", "is %v, and OnEvict is nil: want both", o.OnEvictCauses)
	}
	if err := errBeyondLimit(o.RAMBytes); err != nil {
		return badOption("RAMBytes", "is %d: %w", o.RAMBytes, err)
	}
	if o.WhatIf > WhatIfOff {
		return badOption("WhatIf", "is %v: want WhatIfOn or WhatIfOff", o.WhatIf)
	}
	if _, err := causesOf(o.OnEvictCauses); err != nil {
		return &OptionError{"OnEvictCauses", err}
	}
	if err := o.validateShared(); err != nil {
		return err
	}
	if o.ExpireAfterAccess != 0 && o.TTL != 0 {
		return badOption("ExpireAfterAccess", "is %v, and TTL is %v: want one of them; TypedOptions may have both", o.ExpireAfterAccess, o.TTL)
	}
	if err := validateAccess(o.ExpireAfterAccess, o.Shared != nil, &o.Loading); err != nil {
		return err
	}
	if err := o.Loading.validate(o.ttl()); err != nil {
		return err
	}
	return o.SSD.validate(o.RAMBytes)
}

// whileOff are the options of a cache that keeps nothing.
func (o *Options) whileOff() Options {
	return Options{
		Off: true, RAMBytes: MinRAMBytes, MaxRAMBytes: MinRAMBytes, WhatIf: WhatIfOff, TTL: o.TTL,
		Log: o.Log, Tracer: o.Tracer, Clock: o.Clock, Loading: o.Loading.whileOff(),
	}
}

// whileOff are the options of a cache that keeps nothing.
func (o *LoadingOptions) whileOff() LoadingOptions {
	return LoadingOptions{HardTimeout: o.HardTimeout, CancelUnwanted: o.CancelUnwanted, MaxLoads: o.MaxLoads}
}

// isDuration reports whether an option is 0 or a duration that is not too small to be meant:
// 60 without a unit is 60 ns.
func isDuration(d time.Duration) bool { return d == 0 || d >= time.Millisecond && d <= maxTTL }

const wantDuration = "1ms to 876000h0m0s" // beside 0

// ttl is how long values live that are stored without a time to live of their own.
func (o *Options) ttl() time.Duration {
	switch {
	case o.ExpireAfterAccess != 0:
		return load.Sliding
	case o.TTL != 0:
		return o.TTL
	}
	return Forever
}

// validateAccess refuses an ExpireAfterAccess that makes no sense.
func validateAccess(after time.Duration, shared bool, loading *LoadingOptions) error {
	switch {
	case after == 0:
		return nil
	case !isDuration(after):
		return badOption("ExpireAfterAccess", "is %v: want 0, or %s", after, wantDuration)
	case shared:
		return badOption("ExpireAfterAccess", "is %v, and there is a shared tier: want 0, as that does not hear of the reads here", after)
	case loading.RefreshAfter != 0:
		return badOption("Loading.RefreshAfter", "is %v, and ExpireAfterAccess %v: want 0, as values that are read do not grow old", loading.RefreshAfter, after)
	case loading.TTLJitter != 0:
		return badOption("Loading.TTLJitter", "is %v, and ExpireAfterAccess %v: want 0, as values that are read do not expire together", loading.TTLJitter, after)
	}
	return nil
}

// validate refuses options that make no sense.
func (o *LoadingOptions) validate(ttl time.Duration) error {
	hard := load.Options(*o).Hard()
	if hard == Forever {
		hard = maxTTL
	}
	for _, f := range []struct {
		name  string
		value time.Duration
		more  string // that it may be
	}{
		{"NegativeTTL", o.NegativeTTL, ""}, {"ErrorTTL", o.ErrorTTL, ""}, {"RetryAfter", o.RetryAfter, ""}, {"RefreshAfter", o.RefreshAfter, ""}, {"StaleWhileRevalidate", o.StaleWhileRevalidate, ""},
		{"StaleIfError", o.StaleIfError, ""}, {"SoftTimeout", o.SoftTimeout, ""}, {"HardTimeout", hard, ", or firn.Forever"},
	} {
		if !isDuration(f.value) {
			return badOption("Loading."+f.name, "is %v: want 0, or %s%s", f.value, wantDuration, f.more)
		}
	}
	jitter := time.Duration(o.TTLJitter * float64(ttl))
	switch {
	case !(o.TTLJitter >= 0 && o.TTLJitter < 1): // NaN too
		return badOption("Loading.TTLJitter", "is %v: want at least 0 and below 1", o.TTLJitter)
	case o.RefreshAfter != 0 && ttl == Forever:
		return badOption("Loading.RefreshAfter", "is %v, and values never expire: want a TTL", o.RefreshAfter)
	case o.RefreshAfter != 0 && o.RefreshAfter >= ttl-time.Millisecond:
		return badOption("Loading.RefreshAfter", "is %v: want less than TTL, %v", o.RefreshAfter, ttl)
	case o.RefreshAfter != 0 && o.RefreshAfter <= jitter+time.Millisecond:
		return badOption("Loading.RefreshAfter", "is %v: want more than TTLJitter takes from TTL, %v", o.RefreshAfter, jitter)
	case o.StaleIfError != 0 && o.StaleIfError <= o.StaleWhileRevalidate:
		return badOption("Loading.StaleIfError", "is %v: want more than StaleWhileRevalidate, %v", o.StaleIfError, o.StaleWhileRevalidate)
	case o.SoftTimeout != 0 && o.StaleIfError == 0:
		return badOption("Loading.SoftTimeout", "is %v, and StaleIfError is 0: there is nothing to answer with", o.SoftTimeout)
	case hard <= o.SoftTimeout:
		return badOption("Loading.HardTimeout", "is %v: want more than SoftTimeout, %v", hard, o.SoftTimeout)
	case o.MaxLoads < 0 || o.MaxLoads > mostLoads:
		return badOption("Loading.MaxLoads", "is %d: want 0 for no limit, or up to %d", o.MaxLoads, mostLoads)
	}
	return nil
}

// mostLoads is a limit that is none.
const mostLoads = 1 << 30

// tiers is the configuration of the tiers.
func (o *Options) tiers() store.Config {
	loads := o.loads()
	cfg := store.Config{Shared: o.shared(), Config: local.Config{
		RAMBytes: o.RAMBytes, MaxRAMBytes: o.MaxRAMBytes,
		Clock: o.Clock,
		Grace: loads.Grace(),
		Slide: loads.SlideMillis(),
		Dir:   o.SSD.Dir, SSD: o.SSD.config(o.Log), Mirror: o.SSD.MirrorEvery,
	}}
	if o.WhatIf == WhatIfOn {
		cfg.Simulation = ram.ServiceSimulation(o.RAMBytes)
	}
	if o.Tracer != nil {
		cfg.SSD.StartRead = o.Tracer.StartSSDRead
	}
	return cfg
}

// loads is the configuration of the loads.
func (o *Options) loads() load.Config {
	cfg := load.Config{Options: load.Options(o.Loading), TTL: o.ttl(), Slide: o.ExpireAfterAccess, Log: o.Log, Off: o.Off}
	if o.Tracer != nil {
		cfg.Start = o.Tracer.StartLoad
	}
	return cfg
}

// SharedTier is a tier on a server that the caches of several processes share, a *remote.Tier:
// package github.com/firncache/firn/remote makes it.
type SharedTier interface {
	Shared() shared.Tier // for Open
}

// shared is the tier as the cache uses it, nil without one.
func (o *Options) shared() shared.Tier {
	if o.Shared == nil {
		return nil
	}
	return o.Shared.Shared()
}

// validateShared refuses a nil pointer, such as a remote.Open that failed returns.
func (o *Options) validateShared() error {
	if v := reflect.ValueOf(o.Shared); v.Kind() == reflect.Pointer && v.IsNil() {
		return badOption("Shared", "is a nil %v: want one that remote.Open returned without an error, or none", v.Type())
	}
	return nil
}

// Tracer begins spans: package metrics/firnotel has one. Its methods, and what they return, are
// called outside every lock, by many goroutines at once.
type Tracer interface {
	// StartLoad begins the span of one call of a loader, for so many keys, when its turn has come.
	// ctx has the values of the first caller's; in the background no caller waits for it. The
	// loader gets loading, which has to be made from ctx; end, its error.
	StartLoad(ctx context.Context, keys int, background bool) (loading context.Context, end func(err error))

	// StartSSDRead begins the span of reads of the disk that a caller waits for, for so many
	// records or parts of a value. Calls without a context, as Get, have none.
	StartSSDRead(ctx context.Context, records int) (end func(err error))
}

// WhatIf says whether a cache simulates itself at other sizes: see Cache.Curve.
type WhatIf uint8

// The choices.
const (
	WhatIfOn  WhatIf = iota // a hundredth of the RAM budget, at most 1 MiB, and at most 1 % of a processor
	WhatIfOff               // Curve has no points
)

func (w WhatIf) String() string { return enumtext.Name(w, "on", "off") }

// MarshalText is the choice's name.
func (w WhatIf) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText takes "on" or "off".
func (w *WhatIf) UnmarshalText(text []byte) error { return enumtext.Parse(w, WhatIfOff, text) }
