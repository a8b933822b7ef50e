package firn

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/memory"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/tiered"
)

// MinRAMBytes is the smallest RAM budget: 64 KiB.
const MinRAMBytes = ram.MinBytes

// MemoryLimit is how much memory the process may use, in bytes: what the machine has, or
// the least limit of its control groups, of version 1 or 2. It is 0 where the system says
// neither, as any but Linux does here. Open refuses a RAM budget above it.
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
	// RAMBytes is the memory that the cache may use, in bytes: records, index
	// and bookkeeping. At least MinRAMBytes, at most MemoryLimit. It is not part of Go's
	// heap, so that GOMEMLIMIT does not count it: in a container, leave room for the
	// program's heap below the memory limit, or set LeastRAMBytes.
	RAMBytes int64

	// LeastRAMBytes makes the RAM budget adaptive: RAMBytes is the most that it may be, and
	// this the least, in bytes. The cache looks at the memory that the control group of
	// the process, or the machine, has left, once a second, and ten times while that is
	// tight. It shrinks when that is less than a sixteenth of the limit beyond what Go's
	// heap will still take, or when processes wait for memory, and grows again after a
	// minute without that. Caches of one process share what is free by their budgets. With
	// an SSD tier the budget keeps at least 16 MiB beside that tier's index, so that no
	// entry on the SSD is lost. At least a sixteenth of RAMBytes. It needs Linux; elsewhere
	// the budget stays at RAMBytes. Default 0: the budget changes by SetRAMBytes alone.
	LeastRAMBytes int64

	// MaxRAMBytes is the most that SetRAMBytes may set later, in bytes.
	// Default, where address space costs nothing (Linux, macOS, BSD): four times
	// RAMBytes, but at least 1 GiB, and at most 32 GiB or RAMBytes, whichever is
	// more; RAMBytes elsewhere, and where the system does not give so much address
	// space (ulimit -v, vm.overcommit_memory=2). Bookkeeping takes about 0.05 % of
	// it. Up to 32 GiB a record's room is rounded up to 8 bytes, up to 64 GiB to 16,
	// and so on.
	MaxRAMBytes int64

	// Log gets what an operator should know, one line for many events: an
	// earlier process's data, when the SSD tier is switched off or on, why its index will
	// not outlive this process, faults of the disk, when first a loaded value
	// cannot be stored, and a loader's panic that has no caller left. Default: slog.Default().
	Log *slog.Logger

	// SSD is the second tier, for entries that RAM has no room for. Default: none.
	SSD SSDOptions

	// Shared is the tier below RAM and SSD that the caches of several processes share, on a
	// Redis or Valkey server: remote.Open of module github.com/firncache/firn/remote makes
	// it. What the local tiers miss is looked up there before it is loaded, and what is
	// set is written there, and found by all. It serves one cache, which closes it; an Open
	// that fails has not begun to use it. docs/SHARED.md has its promises and costs.
	// Default: none.
	Shared SharedTier

	// TTL is how long values stored with Set live, to the millisecond; less than one is an
	// error, as 60 is, which is 60 ns. Default, and with Forever: they never expire.
	TTL time.Duration

	// ExpireAfterAccess makes values expire when they have not been read for so long, to
	// the millisecond: those that are stored without a time to live of their own, by Set,
	// SetMulti and loads. A read that finds a value moves its deadline: Get, Lookup,
	// LookupEntry, GetMulti and GetOrLoad, typed ones too, also of hot values; not Has, TTL,
	// All, nor an expired value that GetOrLoad returns. So that a read is seldom a write,
	// it moves a deadline that it makes later by more than 1/16 of this: a value lives
	// for at least 15/16 of it after the last read. A value read from the SSD, and then
	// not kept in RAM, keeps its deadline, and so does one that is on its way there.
	// An entry on the SSD has the deadline that it had when it was written there; after
	// a kill a value may expire earlier for that, never later. Values that were given
	// another time to live, or one by Touch, keep it. Entries that an earlier process
	// left on the SSD under other options may slide, too. It excludes TTL, Shared,
	// Loading.RefreshAfter and Loading.TTLJitter. Default 0: reads move nothing.
	ExpireAfterAccess time.Duration

	// Loading extends GetOrLoad, GetOrLoadMulti and Refresh beyond loading
	// missing values. Default: nothing.
	Loading LoadingOptions

	// OnEvict is called for every entry that leaves, after it has left, with the
	// reason. It runs in the goroutine whose call made the entry leave, in a
	// load's own for GetOrLoad, perhaps after GetOrLoad has returned, or in the
	// cache's for expired ones, outside every lock, and so perhaps several at
	// once; it may use the cache. Key and value are lent until it returns.
	// While it takes its time, who called it waits: the cache's own goroutine
	// then takes out no more expired entries, which are not found all the same.
	// Default: nil, and then nothing is spent on it. Close does not call it. With
	// an SSD tier, an entry that goes there has not left; for those that leave it there,
	// see OnEvictCauses.
	OnEvict func(key, value []byte, cause Cause)

	// OnEvictCauses are the causes for which OnEvict is called. Default, nil: CauseCapacity,
	// CauseExpired, CauseReplaced, CauseDeleted and CauseInvalidated.
	//
	// CauseDemoted is for an entry that RAM had no room for and the SSD tier has. It
	// may come back, and be demoted again.
	//
	// CauseSSDEvicted is for an entry that the SSD tier alone had, when its segment is
	// reclaimed; if it has expired by then, the cause is CauseExpired. Its value is read for
	// that: what is written to the SSD is read once more, about. OnEvict runs in a goroutine
	// of the cache's own then, and while it takes its time, no further segment is
	// reclaimed, so that entries may leave RAM for CauseCapacity that the SSD tier would have
	// taken. It is not called for an entry that cannot be read; nor for what dies in the SSD
	// tier otherwise: because its key is set, deleted, invalidated or cleared there, another
	// key has the same 40 bits of hash, the disk failed, or the cache was opened with less
	// room. An entry that the SSD tier evicts while a Touch reads it there is stored anew, and
	// told of again when that leaves.
	//
	// With a shared tier, what leaves is a copy: the entry lives on there, but for
	// CauseReplaced, CauseDeleted and CauseInvalidated. For CauseInvalidated, OnEvict runs in
	// a goroutine of the cache's own, perhaps after the key has another value; while it takes its
	// time, the servers' further invalidations are carried out all the same.
	OnEvictCauses []Cause

	// WhatIf says whether the cache simulates itself at other sizes, for Cache.Curve. Default:
	// it does, from RAMBytes of 6.25 MiB on.
	WhatIf WhatIf

	// Tracer begins spans for loads and for reads of the SSD. Default: none, and then
	// nothing is spent on it.
	Tracer Tracer

	// Clock is the time by which values expire. Only differences matter, except with
	// an SSD tier, whose entries may outlive the process. It is read at every read
	// of a value with a deadline, and while room is made. It must not call the cache: some callers hold
	// locks. Default: the system's monotonic clock, and the time that the machine was suspended;
	// a goroutine of the process reads it 20 times a second for all its caches, one more for a
	// cache with an SSD tier, and a read itself if its value has less than a second to live;
	// in a bubble of testing/synctest, the bubble's.
	Clock func() time.Time
}

// LoadingOptions extend GetOrLoad, GetOrLoadMulti and Refresh beyond
// loading missing values. Durations count to the millisecond, and less than one is an error.
// Each is off at 0, the default, except RetryAfter and HardTimeout.
//
// An expired value is kept for StaleWhileRevalidate or StaleIfError, whichever is longer, to be
// an answer of GetOrLoad and GetOrLoadMulti; no other call sees it. It is never
// stored again, and may be evicted like any other. A Set, Delete or Clear ends it.
//
//	stored          RefreshAfter           TTL      StaleWhileRevalidate   StaleIfError
//	  |------ hit ------|-- hit, and a load --|-- expired, and ---|-- expired, --|
//	                        in the background     a load in the      if the load
//	                                              background         fails or is late
type LoadingOptions struct {
	// TTLJitter spreads out the deadlines of values that were stored together. It
	// is a share: a value stored with Options.TTL, or with SetLoadTTL, lives shorter
	// by a random part of its TTL, up to this. At least 0 and below 1. SetWithTTL
	// is exact.
	TTLJitter float64

	// NegativeTTL is how long the ErrNotFound of a loader is remembered.
	// GetOrLoad and GetOrLoadMulti answer ErrNotFound meanwhile, and do not load;
	// all other calls see no value. A Set, Delete or Clear ends it. Each takes the
	// room of an entry without a value, counts in Len, and may be evicted; OnEvict
	// is not called for it. With Shared, those of one process answer in all. An error of the source's
	// own, such as sql.ErrNoRows, is not remembered: a loader returns firn.ErrNotFound for it,
	// wrapped if it likes.
	NegativeTTL time.Duration

	// ErrorTTL is how long the error of a loader is remembered, ErrLoadTimeout too, but no
	// panic: callers of GetOrLoad and GetOrLoadMulti that find no value get it meanwhile,
	// and do not load. Of the last 64 keys in each of 64 shards, beside the RAM budget.
	// Writes do not end it, a load that succeeds does: Refresh calls the loader at once. With
	// Shared, the shared tier is read before, for a value of another process.
	ErrorTTL time.Duration

	// RefreshAfter is the age at which a value that was stored with Options.TTL is
	// loaded again in the background, when GetOrLoad or GetOrLoadMulti find it;
	// they return the value that is there. It must be less than Options.TTL, by
	// more than jitter may take from that. The time that counts is the rest of a value's
	// life: it is refreshed when less than TTL - RefreshAfter is left. So jitter
	// moves both moments alike, and a value that was stored with another TTL is
	// refreshed as long before its end, but never if its whole life is shorter
	// than that. With Shared, one process refreshes a value, and the others leave it to that
	// one for RetryAfter. With RefreshAfter, deadlines may be a millisecond later. If the load fails,
	// another begins with the next caller after RetryAfter.
	RefreshAfter time.Duration

	// StaleWhileRevalidate is how long after its deadline a value is still returned by
	// GetOrLoad and GetOrLoadMulti, while one of them loads it again in the
	// background; if that fails, the next caller after RetryAfter does. Values that never
	// expire are never stale. With Shared, the shared tier keeps values for as long, too, and
	// one process reloads such a value. It needs Options.TTL, TypedOptions.TTL or SetLoadTTL, as
	// StaleIfError does.
	StaleWhileRevalidate time.Duration

	// StaleIfError is how long after its deadline a value is returned by GetOrLoad and
	// GetOrLoadMulti if its load fails: with an error other than ErrNotFound, or at
	// HardTimeout; not with a panic. It must be more than StaleWhileRevalidate.
	StaleIfError time.Duration

	// RetryAfter is the pause after a load that failed, or panicked, of a key with a
	// value: meanwhile no load of it begins in the background, and what is returned
	// under StaleIfError is returned at once. So a source that is down is called for a
	// key once in such a time, and not by every reader. Of the last failures, as with
	// ErrorTTL. Default 0: one second; a millisecond is as good as none.
	RetryAfter time.Duration

	// SoftTimeout is how long GetOrLoad and GetOrLoadMulti wait for a load if there
	// is a value to return under StaleIfError, which they then return. The load goes
	// on in the background. It needs StaleIfError.
	SoftTimeout time.Duration

	// HardTimeout is how long a loader may take, whether or not anybody waits for it.
	// Default 0: 30 seconds; Forever: without end. Then its context ends, its callers
	// get ErrLoadTimeout, or an expired value under StaleIfError, and
	// the next caller begins another load. A value returned later is dropped. One
	// returned in time that the SSD tier holds up is returned. It must be more than
	// SoftTimeout. Time that a loader waits to be called, under MaxLoads, for the shared tier,
	// or for another process's load, is not counted.
	HardTimeout time.Duration

	// CancelUnwanted has a load cancelled when every caller that waits for it has left;
	// a bulk load, when all callers of all its keys have left. Default: it goes on,
	// and its value is stored: otherwise callers that wait for less than a load takes
	// begin one after the other, and none ever ends. Either way a load that its last
	// caller leaves is cancelled if it still waits for its turn under MaxLoads, or if its
	// key was written, for its value would not be stored. Loads that go on are bounded by MaxLoads alone.
	CancelUnwanted bool

	// MaxLoads is how many loaders run at a time; a bulk load is one. Others wait
	// their turn, in no order. Loads that a loader begins with its own context run
	// on its turn, beyond the limit, so that it does not wait for itself.
	// Background refreshes do not wait: if there is no room, the next caller
	// tries again. A loader that outlives HardTimeout takes room until it returns.
	MaxLoads int
}

// Forever is the time to live of a value that never expires.
const Forever time.Duration = tiered.Forever

const maxTTL = tiered.MaxTTL

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
func (o *Options) tiers() tiered.Config {
	loads := o.loads()
	cfg := tiered.Config{
		RAMBytes: o.RAMBytes, MaxRAMBytes: o.MaxRAMBytes,
		Clock: o.Clock,
		Grace: loads.Grace(),
		Slide: loads.SlideMillis(),
		Dir:   o.SSD.Dir, SSD: o.SSD.config(o.Log), Mirror: o.SSD.MirrorEvery,
		Shared: o.Shared,
	}
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
	cfg := load.Config{Options: load.Options(o.Loading), TTL: o.ttl(), Slide: o.ExpireAfterAccess, Log: o.Log}
	if o.Tracer != nil {
		cfg.Start = o.Tracer.StartLoad
	}
	return cfg
}

// SharedTier is a tier on a server that the caches of several processes share. Package
// github.com/firncache/firn/remote makes it: remote.Open.
type SharedTier = shared.Tier

// validateShared refuses a nil pointer, such as a remote.Open that failed returns.
func (o *Options) validateShared() error {
	if v := reflect.ValueOf(o.Shared); v.Kind() == reflect.Pointer && v.IsNil() {
		return badOption("Shared", "is a nil %v: want one that remote.Open returned without an error, or none", v.Type())
	}
	return nil
}

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

// WhatIf says whether a cache simulates itself at other sizes: see Cache.Curve.
type WhatIf uint8

// The choices.
const (
	WhatIfOn  WhatIf = iota // a hundredth of the RAM budget, at most 1 MiB, and at most 1 % of a processor
	WhatIfOff               // Curve has no points
)

func (w WhatIf) String() string {
	switch w {
	case WhatIfOn:
		return "on"
	case WhatIfOff:
		return "off"
	}
	return fmt.Sprintf("WhatIf(%d)", uint8(w))
}

// MarshalText is the choice's name.
func (w WhatIf) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText takes "on" or "off".
func (w *WhatIf) UnmarshalText(text []byte) error { return named(w, WhatIfOff, text) }
