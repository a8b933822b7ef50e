package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/workload"
)

// Budget returns the RAM budget for a trace: what -ram says, or the share of
// its working set, for which it reads the trace once.
func (o *Options) Budget(ctx context.Context, trace string, stderr io.Writer) (int64, error) {
	if o.RAMBytes > 0 {
		return o.RAMBytes, nil
	}
	src, err := o.open(trace)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	observed := &observed{Source: src}
	stop := ShowProgress(stderr, "measuring", observed.state)
	set, err := workload.Measure(ctx, observed, o.valueSize())
	stop()
	if errors.Is(err, context.Canceled) {
		return 0, ErrInterrupted
	}
	if err != nil {
		return 0, err
	}
	return max(int64(o.Fraction*float64(set.Bytes)), o.leastRAM, 1), nil
}

// Replay runs a trace through a cache under a budget of ram bytes and returns
// the result, its names filled in. Figures up to an error come with it.
func (o *Options) Replay(ctx context.Context, trace, cache string, ram int64, open replay.OpenFunc, stderr io.Writer) (replay.Result, error) {
	src, err := o.open(trace)
	if err != nil {
		return replay.Result{}, err
	}
	if o.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Time, replay.ErrTimeUp)
		defer cancel()
	}
	start, progress := time.Now(), new(replay.Progress)
	stop := ShowProgress(stderr, cache, func() (string, float64) {
		return requestsDone(progress.Requests()), max(progress.Share(), o.timeShare(time.Since(start)))
	})
	result, err := replay.Run(ctx, o.config(ram, progress), src, open)
	stop()
	result.Cache, result.Trace = cache, TraceName(trace)
	err = o.nameFlags(err)
	if err == nil && result.Requests == 0 && !result.Interrupted {
		err = Usage(fmt.Errorf("%s: no requests in the trace", TraceName(trace)))
	}
	return result, err
}

// flagNames puts flags in the places of the options that they set.
var flagNames = strings.NewReplacer("RAMBytes", "-ram", "SSD.Bytes", "-ssd", "SSD.Dir", "-dir", "SSD.SegmentBytes", "-segment", "SSD.WriteBudget", "-write-budget")

// nameFlags is an error of opening the cache in terms of the flags.
func (o *Options) nameFlags(err error) error {
	option, ok := errors.AsType[*firn.OptionError](err)
	if !ok {
		return err
	}
	text := flagNames.Replace(option.Field + " " + option.Err.Error())
	if o.Fraction > 0 && o.leastRAM == 0 { // the flag was given
		text = strings.Replace(text, "-ram is", fmt.Sprintf("RAM by -fraction %v is", o.Fraction), 1)
	}
	return fmt.Errorf("%w: %s", replay.ErrOpen, text)
}

// timeShare is the share of the time limit that has passed, 0 without one.
func (o *Options) timeShare(passed time.Duration) float64 {
	if o.Time == 0 {
		return 0
	}
	return min(float64(passed)/float64(o.Time), 1)
}

// observed is a source whose progress may be read from another goroutine.
type observed struct {
	workload.Source
	requests  atomic.Int64
	shareBits atomic.Uint64
}

func (s *observed) Read(dst []workload.Request) (int, error) {
	n, err := s.Source.Read(dst)
	s.requests.Add(int64(n))
	s.shareBits.Store(math.Float64bits(s.Source.Done()))
	return n, err
}

func (s *observed) state() (string, float64) {
	return requestsDone(s.requests.Load()), math.Float64frombits(s.shareBits.Load())
}
