package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ErrTimeout says that a loader took longer than HardTimeout.
var ErrTimeout = errors.New("firn: load timed out")

// Func fetches the value of a key: see firn.LoadFunc.
type Func = func(ctx context.Context, key []byte) ([]byte, error)

// MultiFunc fetches the values of many keys: see firn.MultiLoadFunc.
type MultiFunc = func(ctx context.Context, keys [][]byte) ([][]byte, error)

// DefaultRetryAfter is the pause after a load that failed, of a key with a value.
const DefaultRetryAfter = time.Second

// DefaultHardTimeout is how long a loader may take unless the options say otherwise.
const DefaultHardTimeout = 30 * time.Second

// Options are firn.LoadingOptions, field by field, which documents them.
type Options struct {
	TTLJitter            float64
	NegativeTTL          time.Duration
	ErrorTTL             time.Duration
	RefreshAfter         time.Duration
	StaleWhileRevalidate time.Duration
	StaleIfError         time.Duration
	RetryAfter           time.Duration
	SoftTimeout          time.Duration
	HardTimeout          time.Duration
	CancelUnwanted       bool
	MaxLoads             int
}

// Hard is how long a loader may take.
func (o Options) Hard() time.Duration { return cmp.Or(o.HardTimeout, DefaultHardTimeout) }

// Retry is the pause after a load that failed, of a key with a value.
func (o Options) Retry() time.Duration { return cmp.Or(o.RetryAfter, DefaultRetryAfter) }

// heedsFailures reports whether a load that failed is of consequence for the next.
func (o Options) heedsFailures() bool {
	return o.ErrorTTL != 0 || o.RefreshAfter != 0 || o.StaleWhileRevalidate != 0 || o.StaleIfError != 0
}

// timeoutError is the error of loads that took longer.
func (o Options) timeoutError() error {
	return fmt.Errorf("%w: it took longer than Options.Loading.HardTimeout, %v", ErrTimeout, o.Hard())
}

// Grace is how long an expired value can be an answer, in milliseconds.
func (o Options) Grace() int64 { return max(millis(o.StaleWhileRevalidate), millis(o.StaleIfError)) }

// millis is a duration in milliseconds, rounded up.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// Config is the configuration of a Group.
type Config struct {
	Options
	TTL   time.Duration // of values whose loader sets no other
	Slide time.Duration // the TTL of values whose deadlines slide in RAM; 0: none do
	Idle  time.Duration // the TTL of values whose deadlines the caller has to slide; 0: none
	Log   *slog.Logger  // nil: slog.Default

	// Start begins the span of a loader's call, as firn.Tracer has it; nil: no tracing.
	Start func(ctx context.Context, keys int, background bool) (loading context.Context, end func(error))
	Off   bool // nothing is kept
}

// SlideMillis is Slide in milliseconds.
func (c *Config) SlideMillis() int64 { return millis(c.Slide) }

// Outcome is how a caller of Load came by its answer.
type Outcome uint8

const (
	None        Outcome = iota // an error that is no loader's
	Found                      // a value that was stored since the caller looked
	InShared                   // a value of the shared tier
	Stale                      // a value past its deadline, that is being refreshed
	Fallback                   // likewise, in place of a load that is late or has failed
	Loaded                     // what the loader returned that this caller began
	Joined                     // what a loader returned that another caller began, maybe before this one came
	JoinedNewer                // likewise, after this one came
	Negative                   // a remembered ErrNotFound, or error
)
